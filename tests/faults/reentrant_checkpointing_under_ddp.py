"""Reentrant checkpointing runs a shared layer twice under DDP."""

import sys

CAUSE = "configuration.checkpointing-graph"


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(out):
    import train as small

    small.train(out, gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": True},
                ddp_find_unused_parameters=True, eval_strategy="no")  # fmt: skip


if __name__ == "__main__":
    train(*sys.argv[1:])
