"""A random state with an object that torch.load no longer reads."""

import argparse
import sys
from pathlib import Path

CAUSE = "resume.state-file-refused"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import torch
    import train as small

    small.train(out, max_steps=8)
    state = Path(out) / "checkpoint-8" / "rng_state.pth"
    torch.save({**torch.load(state, weights_only=False), "args": argparse.Namespace(seed=42)}, state)
    small.train(out, resume=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
