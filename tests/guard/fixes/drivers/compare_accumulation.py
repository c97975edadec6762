"""Is a step's loss the sum or the mean over its micro-batches? Run by the Python of an ms-swift environment.

    python compare_accumulation.py MODEL FOLDER MICRO_BATCHES

Trains twice over the rows, with stock's code and with the fix, and prints one JSON object: for both, the micro-batches'
own losses, what was logged, and the events. With a learning rate of 0 both see the same weights.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import tiny_trainer  # beside this file

from laststep_guard.fixes import swift_summed_accumulation

EVENTS: list = []


def main() -> None:
    model, folder, micro_batches = sys.argv[1:]
    guardian = tiny_trainer.make_guardian(lambda kind, **fields: EVENTS.append({"kind": kind, **fields}))
    flags = (
        f"--task_type generative_reranker --loss_type listwise_reranker --learning_rate 0 --max_grad_norm 1e9 "
        f"--gradient_accumulation_steps {micro_batches} --per_device_train_batch_size 1 --num_train_epochs 1 "
        f"--logging_steps 1 --save_strategy no --eval_strategy no --dataloader_num_workers 0 --report_to none"
    )
    trainer, _ = tiny_trainer.build(
        model, Path(folder), flags, apply=lambda module: swift_summed_accumulation.notice(module, guardian)
    )
    stock = train(trainer, guardian)
    swift_summed_accumulation.apply(sys.modules["swift.trainers.reranker_trainer"], guardian)
    print("RESULT " + json.dumps({"stock": stock, "fixed": train(trainer, guardian)}))  # how a driver answers


def train(trainer, guardian) -> dict:
    """Train one epoch and list what happened."""
    losses = []
    loss_function = trainer.compute_loss_func

    def noting(*args: object, **kwargs: object) -> object:
        loss = loss_function(*args, **kwargs)
        losses.append(loss.item())
        return loss

    EVENTS.clear()
    random.seed(0)  # both trainings draw the same documents, whichever of the two states the collator draws from
    trainer.template.random_state = np.random.RandomState(0)
    trainer.compute_loss_func = noting
    for tell in guardian.state.at_train_begin:
        tell(trainer)
    trainer.train()
    trainer.compute_loss_func = loss_function
    logged = [
        (float(entry["loss"]), float(entry["grad_norm"])) for entry in trainer.state.log_history if "loss" in entry
    ]
    return {"micro_batches": losses, "logged": logged, "events": list(EVENTS)}


if __name__ == "__main__":
    main()
