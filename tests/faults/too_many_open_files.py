"""Loader workers hand over tensors by file descriptor under a limit of 96 open files."""

import sys

CAUSE = "environment.process-limit"


def break_run(scene):
    return scene.run(scene.script(__file__), wrapper=("prlimit", "--nofile=96:96"))


def train(out):
    import train as small

    class ManyTensors(small.Rows):
        def __getitem__(self, index):
            row = super().__getitem__(index)
            return row | {f"extra_{number}": row["labels"].clone() for number in range(20)}

    kept = []

    def keep(rows):
        import torch

        batch = torch.utils.data.default_collate(rows)
        return {name: batch[name] for name in ("input_ids", "labels")} | {"extra": list(batch.values())}

    import torch

    for batch in torch.utils.data.DataLoader(ManyTensors(), batch_size=2, num_workers=2, collate_fn=keep):
        kept.append(batch)
        print(f"step {len(kept)}", flush=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
