"""The best model is to be chosen by a metric that no evaluation gives."""

import sys

CAUSE = "configuration.best-metric-missing"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    small.train(out, load_best_model_at_end=True, metric_for_best_model="accuracy")


if __name__ == "__main__":
    train(*sys.argv[1:])
