"""tf32 is asked of a machine that does not have it."""

import sys

CAUSE = "environment.dtype-unsupported"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    small.train(out, tf32=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
