"""A loader worker keeps every row it reads, in a container with 3 GiB, until the kernel kills it."""

import sys

CAUSE = "host-memory.worker-oom-killed"


def break_run(scene):
    broken = scene.run(scene.script(__file__), limit="3G")
    return broken.expect(broken.oom_kills > 0, "the kernel killed nobody")


def train(out):
    import torch
    import train as small

    kept = []

    class HoardingRows(small.Rows):
        def __getitem__(self, index):
            if torch.utils.data.get_worker_info() is not None:
                kept.append(torch.ones(32 << 20))  # 128 MiB a row
            return super().__getitem__(index)

    small.train(out, rows=HoardingRows(), dataloader_num_workers=1, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
