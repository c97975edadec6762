"""Rank 1 builds a model with a layer more."""

import os
import sys

CAUSE = "distributed.rank-divergence"


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(out):
    import train as small

    config = small.make_model().config
    config.num_hidden_layers += int(os.environ["RANK"])
    small.train(out, model=type(small.make_model())(config), eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
