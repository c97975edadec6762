"""A gradient scaler meets weights in fp16."""

import sys

CAUSE = "numerics.fp16-master-weights"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(_out):
    import torch
    import train as small

    model = small.make_model().half()
    optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cpu")
    for row in torch.utils.data.DataLoader(small.Rows(), batch_size=2):
        loss = model(**row).loss
        print(f"loss {loss.item():.4f}", flush=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)


if __name__ == "__main__":
    train(*sys.argv[1:])
