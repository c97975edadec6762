"""The model is named by its hub id, and there is no network."""

import sys

CAUSE = "environment.hub-unreachable"


def break_run(scene):
    return scene.run(scene.script(__file__, HF_HUB_OFFLINE="0"), wrapper=("unshare", "--net"))


def train(out):
    import train as small
    from transformers import AutoModelForCausalLM

    small.train(out, model=AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B"))


if __name__ == "__main__":
    train(*sys.argv[1:])
