"""The response marker is never found, so that every label is ignored and the loss is no number from the first step."""

import sys

CAUSE = "data.bad-labels"


def break_run(scene):
    return scene.run(scene.script(__file__), fails=False)


def train(out):
    import torch
    import train as small

    class Unanswered(small.Rows):
        def __getitem__(self, index):
            row = super().__getitem__(index)
            return row | {"labels": torch.full_like(row["labels"], -100)}

    small.train(out, rows=Unanswered(), logging_steps=1, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
