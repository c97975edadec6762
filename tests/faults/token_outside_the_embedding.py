"""The tokenizer knows more tokens than the embedding has rows."""

import sys

CAUSE = "data.tokenizer-mismatch"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    small.train(out, model=small.make_model(words=small.WORDS // 2))


if __name__ == "__main__":
    train(*sys.argv[1:])
