"""Gradients leave the range of fp16, and DeepSpeed lowers its loss scale until there is none left."""

import sys

CAUSE = "numerics.fp16-overflow"


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(_out):
    import deepspeed
    import torch
    import train as small

    deepspeed.init_distributed("gloo")
    model = small.make_model()
    with torch.no_grad():
        model.lm_head.weight.mul_(1e6)
    fp16 = {"enabled": True, "initial_scale_power": 6, "loss_scale_window": 4, "hysteresis": 1, "min_loss_scale": 1}
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config={**small.ZERO, "fp16": fp16}
    )
    for step, row in enumerate(torch.utils.data.DataLoader(small.Rows(), batch_size=2)):
        loss = engine(**row).loss
        engine.backward(loss)
        engine.step()
        print(f"step {step}: loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    train(*sys.argv[1:])
