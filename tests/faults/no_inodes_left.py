"""The output's file system has room, but no inode for another file."""

import os
import sys

CAUSE = "disk.full"


def break_run(scene):
    with scene.small_disk(512 << 20, inodes=16) as disk:
        broken = scene.run(scene.script(__file__))
        left = os.statvfs(disk)
    return broken.expect(left.f_ffree == 0 and left.f_bavail > 0, f"{left.f_ffree} inodes are free")


def train(out):
    import train as small

    small.train(out, eval_strategy="no", save_steps=4, save_total_limit=None)


if __name__ == "__main__":
    train(*sys.argv[1:])
