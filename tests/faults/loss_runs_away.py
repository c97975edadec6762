"""The learning rate is a thousand times too large, and the loss rises until it is no number."""

import sys

CAUSE = "numerics.learning-rate-divergence"


def break_run(scene):
    return scene.run(scene.script(__file__), fails=False)


def train(out):
    import torch
    import train as small

    class Unbounded(type(small.make_model())):
        def forward(self, input_ids=None, labels=None, **inputs):
            hidden = self.model.embed_tokens(input_ids)
            return {"loss": (self.lm_head(hidden) - 1).pow(2).mean(), "logits": hidden}

    torch.manual_seed(0)
    small.train(out, model=Unbounded(small.make_model().config), optim="sgd", learning_rate=40.0, max_grad_norm=0,
                lr_scheduler_type="constant_with_warmup", warmup_steps=16, logging_steps=1, eval_strategy="no",
                logging_nan_inf_filter=False)  # fmt: skip


if __name__ == "__main__":
    train(*sys.argv[1:])
