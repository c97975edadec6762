"""The output lies on a file system that holds one checkpoint and a half."""

import os
import sys

CAUSE = "disk.full"


def break_run(scene):
    with scene.small_disk(900 << 10) as disk:
        broken = scene.run(scene.script(__file__))
        free = os.statvfs(disk).f_bavail
    return broken.expect(free < 16, f"{free} blocks are free")


def train(out):
    import train as small

    small.train(out, eval_strategy="no", save_steps=4, save_total_limit=None)


if __name__ == "__main__":
    train(*sys.argv[1:])
