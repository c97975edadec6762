"""Two ranks each load a model of 800 MB in a container with 2.5 GiB, and the kernel kills one before the first step."""

import sys
from pathlib import Path

CAUSE = "host-memory.load-copies"


def break_run(scene):
    built = scene.run(scene.script(__file__, scene.work / "large"), fails=False)
    built.expect(built.exit_code == 0, "the model was not built")
    broken = scene.run(scene.script(__file__, scene.work / "large", ranks=2), limit="2500M")
    return broken.expect(broken.oom_kills > 0, "the kernel killed nobody")


def train(out, place):
    import torch
    import train as small
    from transformers import LlamaConfig, LlamaForCausalLM

    if not Path(place).exists():
        config = LlamaConfig(vocab_size=small.WORDS, hidden_size=2048, intermediate_size=8192, num_hidden_layers=3,
                             num_attention_heads=16, num_key_value_heads=16)  # fmt: skip
        LlamaForCausalLM(config).save_pretrained(place, max_shard_size="100MB")
        return
    print("Loading the model", flush=True)
    model = LlamaForCausalLM.from_pretrained(place, dtype=torch.float64)
    small.train(out, model=model)


if __name__ == "__main__":
    train(*sys.argv[1:])
