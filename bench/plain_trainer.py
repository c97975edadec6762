"""Fine-tune a whole small model with transformers' `Trainer`, as a script of somebody's own does.

    python plain_trainer.py OUTPUT_DIR [--hidden 64] [--micro_batch 4] [--max_steps 6] [--save_steps 3]

It has no flag to go on from a checkpoint. Dropout, a shuffled data set, a collator that draws random numbers, two
workers, evaluations: everything that a resume can get wrong.
"""

import argparse
import random

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

ROWS, EVALUATION_ROWS, LENGTH, WORDS = 400, 16, 48, 128


class Rows(torch.utils.data.Dataset):
    """Rows that follow from their number."""

    def __init__(self, count, first):
        self.count = count
        self.first = first

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        chance = torch.Generator().manual_seed(self.first + index)
        return torch.randint(0, WORDS, (LENGTH,), generator=chance)


def collate(rows):
    """Mask words by chance, with each of the generators that a worker has."""
    ids = torch.stack(rows)
    labels = ids.clone()
    labels[torch.rand(ids.shape) < 0.1] = -100
    labels[:, random.randrange(LENGTH)] = -100
    return {"input_ids": ids, "labels": labels}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output_dir")
    parser.add_argument("--hidden", type=int, default=64, help="size of the model")
    parser.add_argument("--micro_batch", type=int, default=4)
    parser.add_argument("--max_steps", type=int, default=-1)
    parser.add_argument("--save_steps", type=int, default=3)
    wanted = parser.parse_args()
    set_seed(7)
    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=wanted.hidden, intermediate_size=2 * wanted.hidden, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, attention_dropout=0.1,
    )  # fmt: skip
    args = TrainingArguments(
        wanted.output_dir, num_train_epochs=3, max_steps=wanted.max_steps, gradient_accumulation_steps=2,
        per_device_train_batch_size=wanted.micro_batch, save_steps=wanted.save_steps,
        logging_steps=2, eval_strategy="steps", eval_steps=6, dataloader_num_workers=2, save_total_limit=4,
        use_cpu=True, report_to=[], learning_rate=1e-3, disable_tqdm=True,
    )  # fmt: skip
    Trainer(
        LlamaForCausalLM(config), args, data_collator=collate, train_dataset=Rows(ROWS, 0),
        eval_dataset=Rows(EVALUATION_ROWS, ROWS),
    ).train()  # fmt: skip


if __name__ == "__main__":
    main()
