"""Reentrant checkpointing with frozen embeddings cuts the graph."""

import sys

CAUSE = "configuration.checkpointing-graph"


def break_run(scene):
    return scene.run(scene.script(__file__))


def train(out):
    import torch
    import torch.utils.checkpoint
    import train as small

    class Checkpointed(type(small.make_model())):
        def forward(self, input_ids=None, labels=None, **inputs):
            hidden = self.model.embed_tokens(input_ids)
            hidden = torch.utils.checkpoint.checkpoint(self.model.layers[0].mlp, hidden, use_reentrant=True)
            logits = self.lm_head(hidden)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
            return {"loss": loss, "logits": logits}

    model = Checkpointed(small.make_model().config)
    for name, weights in model.named_parameters():
        weights.requires_grad_(requires_grad="mlp" in name)
    small.train(out, model=model, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
