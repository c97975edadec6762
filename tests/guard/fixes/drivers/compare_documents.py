"""Does a batch come out the same with each document encoded once? Run by the Python of an ms-swift environment.

    python compare_documents.py MODEL FOLDER TASK_TYPE LOSS_TYPE [padding_free] [gradient_checkpointing]

Builds the real template, model and trainer in this process, computes every case with stock's code and with the fix, and
prints one JSON object: case -> what differs.
"""

import hashlib
import json
import random
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import tiny_trainer  # beside this file
import torch
from transformers import EvalPrediction

from laststep_guard.fixes import swift_misaligned_documents, swift_repeated_documents


def report_error(kind: str, **fields: object) -> None:
    raise AssertionError(f"{kind}: {fields}")  # what the shield would have hidden


GUARDIAN = tiny_trainer.make_guardian(report_error)


def apply_all(module) -> None:
    swift_misaligned_documents.apply(sys.modules["swift.template.base"], GUARDIAN)
    apply(module)


def apply(module) -> None:
    swift_repeated_documents.apply(module, GUARDIAN)


def main() -> None:
    model, folder, task_type, loss_type, *features = sys.argv[1:]
    checkpointing = str("gradient_checkpointing" in features).lower()
    flags = f"--task_type {task_type} --loss_type {loss_type} --gradient_checkpointing {checkpointing}"
    # Rows that are mixed inside are encoded with the fix that lets stock collate them.
    trainer, rows = tiny_trainer.build(
        model, Path(folder), flags, apply=apply_all, padding_free="padding_free" in features, mixed=True
    )
    cases = {
        "one row": [0],
        "several rows, one without negatives": [0, 3, 1],
        "only rows without negatives": [3, 4],
        "a text-only row": [2],
        "a text-only row between rows with images": [0, 2, 1],
        "two images a document": [6],
        "text and pictures in one row": [7, 0],
    }
    result = {name: compare(trainer, rows, chosen, seed=0) for name, chosen in cases.items()}
    # Packed, 110 documents attend to each other in one row, which takes a CPU minutes.
    for seed in () if "padding_free" in features else (0, 1, 2):
        result[f"documents are drawn, seed {seed}"] = compare(trainer, rows, [5], seed=seed)
    print("RESULT " + json.dumps(result))  # how a driver answers


def compare(trainer, rows: list, chosen: list, *, seed: int) -> dict:
    GUARDIAN.patches.undo()
    stock = compute(trainer, [rows[index] for index in chosen], seed)
    apply(sys.modules["swift.trainers.reranker_trainer"])
    fixed = compute(trainer, [rows[index] for index in chosen], seed)
    largest = max((gradient.abs().max().item() for gradient in stock["gradients"]), default=0.0)
    pairs = zip(stock["gradients"], fixed["gradients"], strict=True)
    exact = ("documents", "labels", "random_state", "accuracy", "metrics", "has_graph", "shapes", "batch_size")
    return {
        "encoded": [stock["encoded"], fixed["encoded"]],
        "loss": [stock["loss"], fixed["loss"]],
        "gradient": largest,
        "gradient_difference": max(((a - b).abs().max().item() for a, b in pairs), default=0.0),
        "score_difference": (stock["scores"] - fixed["scores"]).abs().max().item(),
        "differs": {name: [stock[name], fixed[name]] for name in exact if stock[name] != fixed[name]},
    }


def compute(trainer, rows: list, seed: int) -> dict:
    """Collate, train one micro-batch and evaluate it, with whatever code is in place."""
    random.seed(seed)
    trainer.template.random_state = np.random.RandomState(seed)
    batch = trainer.data_collator([{key: list(value) for key, value in row.items()} for row in rows])
    state = [random.getstate(), *map(str, trainer.template.random_state.get_state())]
    documents = split(batch)
    index = batch.get(swift_repeated_documents.INDEX_KEY)
    result = {
        "random_state": hashlib.sha256(repr(state).encode()).hexdigest(),
        "encoded": len(documents),
        "documents": documents if index is None else [documents[place] for place in index.tolist()],
        "labels": batch["labels"].tolist(),
        "batch_size": next(iter(batch.values())).shape[0],
    }
    return {**result, **train(trainer, dict(batch)), **evaluate(trainer, dict(batch))}


def split(batch: dict) -> list:
    """List the token ids of each document in the batch."""
    if "attention_mask" in batch:
        pairs = zip(batch["input_ids"], batch["attention_mask"], strict=True)
        return [ids[mask.bool()].tolist() for ids, mask in pairs]
    positions = batch.get("text_position_ids", batch["position_ids"])
    positions = positions.reshape(-1, positions.shape[-1])[0]
    starts = [*torch.nonzero(positions == 0).flatten().tolist(), len(positions)]
    ids = batch["input_ids"][0].tolist()
    return [ids[start:end] for start, end in pairwise(starts)]


def train(trainer, batch: dict) -> dict:
    trainer.model.train()
    trainer.model.zero_grad()
    trainer.custom_metrics["train"].clear()
    count = torch.tensor(batch["labels"].shape[0])
    inputs = trainer._prepare_inputs(batch)  # what a training step does
    loss = trainer.compute_loss(trainer.model, inputs, num_items_in_batch=count)
    loss.backward()
    parameters = [parameter for parameter in trainer.model.parameters() if parameter.requires_grad]
    return {
        "loss": loss.item(),
        "has_graph": any(parameter.grad is not None for parameter in parameters),
        "gradients": [parameter.grad for parameter in parameters if parameter.grad is not None],
        "accuracy": {name: metric.compute() for name, metric in trainer.custom_metrics["train"].items()},
    }


def evaluate(trainer, batch: dict) -> dict:
    trainer.model.eval()
    _, scores, labels = trainer.prediction_step(trainer.model, batch, prediction_loss_only=False)
    metrics = trainer.compute_metrics(EvalPrediction(predictions=scores, label_ids=labels))
    return {
        "scores": scores.float(),
        "shapes": [list(scores.shape), list(labels.shape)],
        "metrics": {name: float(value) for name, value in metrics.items()},
    }


if __name__ == "__main__":
    main()
