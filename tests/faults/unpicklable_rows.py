"""A data set that holds a local function is handed to spawned workers."""

import sys

CAUSE = "data.unsafe-in-worker"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import torch.multiprocessing
    import train as small

    torch.multiprocessing.set_start_method("spawn")
    rows = small.Rows()
    rows.transform = lambda row: row
    small.train(out, rows=rows, dataloader_num_workers=2)


if __name__ == "__main__":
    train(*sys.argv[1:])
