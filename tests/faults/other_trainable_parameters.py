"""A full run goes on with its embeddings frozen."""

import sys

CAUSE = "resume.trainable-set-changed"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    small.train(out, max_steps=8)
    model = small.make_model()
    model.model.embed_tokens.requires_grad_(requires_grad=False)
    small.train(out, resume=True, model=model)


if __name__ == "__main__":
    train(*sys.argv[1:])
