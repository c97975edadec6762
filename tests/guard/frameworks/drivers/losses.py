"""Look at real losses with the guard's eyes, as on several ranks.

python losses.py        prints RESULT and one JSON object
"""

import json
import sys

import torch
from torch.utils.checkpoint import checkpoint

from laststep_guard.attach import make_guardian
from laststep_guard.frameworks.accelerate import hook_backward
from laststep_guard.settings import Settings


class Model(torch.nn.Module):
    """A frozen part below a trained one, as with LoRA."""

    def __init__(self, *, reentrant=False):
        super().__init__()
        self.frozen = torch.nn.Linear(4, 4).requires_grad_(requires_grad=False)
        self.trained = torch.nn.Linear(4, 3)
        self.reentrant = reentrant

    def forward(self, rows):
        hidden = self.frozen(rows).requires_grad_()
        if self.reentrant:
            return {"logits": checkpoint(self.trained, hidden, use_reentrant=True)}
        return {"logits": self.trained(hidden)}


class Accelerator:
    """Takes the loss where accelerate would."""

    given = None

    def backward(self, loss):
        Accelerator.given = loss
        if loss.requires_grad:
            loss.backward()


class Module:
    Accelerator = Accelerator


def look(make_loss, *, ranks=2, reentrant=False):
    """Run one micro-batch; tell what went backward."""
    events = []
    guardian = make_guardian(Settings(run_id="test"))
    guardian.emitter.emit = lambda kind, **fields: events.append({"kind": kind, **fields})
    guardian.state.world_size = ranks
    hook_backward(Module, guardian)
    model = Model(reentrant=reentrant)
    for prepare in guardian.state.before_forward:
        prepare(model)
    loss = make_loss(model(torch.ones(2, 4))["logits"])
    Accelerator().backward(loss)
    guardian.patches.undo()
    gradient = model.trained.weight.grad
    return {
        "same": Accelerator.given is loss,
        "value": Accelerator.given.item(),
        "gradient": None if gradient is None else gradient.abs().sum().item(),
        "events": events,
    }


def main():
    sys.modules.setdefault("torch", torch)
    fresh = lambda _logits: torch.tensor(0.0, requires_grad=True) / 2  # noqa: E731  # what ms-swift 4.0.0 does
    results = {
        "healthy": look(lambda logits: logits.sum()),
        "healthy-reentrant": look(lambda logits: logits.sum(), reentrant=True),
        "fresh": look(fresh),
        "leaf": look(lambda _logits: torch.tensor(0.0)),
        "fresh-alone": look(fresh, ranks=1),
    }
    print("RESULT", json.dumps(results))


if __name__ == "__main__":
    main()
