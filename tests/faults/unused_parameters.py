"""A branch of the model is not used in every step, and DDP does not look for unused parameters."""

import sys

CAUSE = "configuration.checkpointing-graph"  # unused parameters are its part, as long as every rank skips alike


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(out):
    import torch
    import train as small

    class TwoBranches(type(small.make_model())):
        def forward(self, input_ids=None, labels=None, **inputs):
            if not hasattr(self, "calls"):
                self.calls = 0
            self.calls += 1
            output = super().forward(input_ids=input_ids, labels=labels, **inputs)
            if self.calls % 3:
                output.loss = output.loss + self.vision(torch.ones(1, 4)).sum()
            return output

    model = TwoBranches(small.make_model().config)
    model.vision = torch.nn.Linear(4, 4)
    small.train(out, model=model, ddp_find_unused_parameters=False, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
