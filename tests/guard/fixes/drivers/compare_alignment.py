"""Does a document without a picture keep its place in a row? Run by the Python of an ms-swift environment.

    python compare_alignment.py MODEL FOLDER

Scores the documents of a mixed row, and the same documents in rows of one kind. Prints one JSON object: the error that
stock ends with, and for both ways of asking the scores by document.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import tiny_trainer  # beside this file
import torch

from laststep_guard.fixes import swift_misaligned_documents


def report_error(kind: str, **fields: object) -> None:
    raise AssertionError(f"{kind}: {fields}")  # what the shield would have hidden


def main() -> None:
    model, folder = sys.argv[1:]
    guardian = tiny_trainer.make_guardian(report_error)
    flags = "--task_type generative_reranker --loss_type listwise_reranker"
    trainer, _ = tiny_trainer.build(model, Path(folder), flags, apply=lambda _: None, mixed=True)
    # The last three rows: mixed, the pictures, the words.
    stock_error, pictures, words = (score(trainer, row) for row in (-3, -2, -1))
    swift_misaligned_documents.apply(sys.modules["swift.template.base"], guardian)
    mixed, same_pictures = score(trainer, -3), score(trainer, -2)
    answer = {
        "stock_error": stock_error,
        "apart": {**pictures, **words},
        "mixed": mixed,
        "unmixed_rows_agree": same_pictures == pictures,
    }
    print("RESULT " + json.dumps(answer))  # how a driver answers


def score(trainer, row: int) -> object:
    """Score a row's documents by their token ids, or name the error that this ends with."""
    random.seed(0)
    trainer.template.random_state = np.random.RandomState(0)
    dataset = trainer.train_dataset
    try:
        batch = trainer.data_collator([dataset[len(dataset) + row]])
    except IndexError as error:
        return type(error).__name__
    trainer.model.eval()
    with torch.no_grad():
        _, scores, _ = trainer.prediction_step(trainer.model, dict(batch), prediction_loss_only=False)
    rows = zip(batch["input_ids"], batch["attention_mask"], strict=True)
    documents = [str(ids[mask.bool()].tolist()) for ids, mask in rows]
    return dict(zip(documents, scores.flatten().tolist(), strict=True))


if __name__ == "__main__":
    main()
