"""The newest checkpoint's optimizer.pt was cut short, and the training goes on from it."""

import os
import sys
from pathlib import Path

CAUSE = "checkpoint.torn"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    small.train(out, max_steps=8)
    state = Path(out) / "checkpoint-8" / "optimizer.pt"
    os.truncate(state, state.stat().st_size // 2)
    small.train(out, resume=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
