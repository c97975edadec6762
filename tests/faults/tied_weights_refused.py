"""Two names of the model share one tensor, which it does not declare, and safetensors refuses the first save."""

import sys

CAUSE = "checkpoint.shared-tensors"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import train as small

    model = small.make_model()
    first, second = model.model.layers
    second.mlp.up_proj.weight = first.mlp.up_proj.weight
    small.train(out, model=model, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
