"""Rank 0 tokenizes for longer than the time the others wait for it."""

import sys
import time

CAUSE = "distributed.slow-preprocessing-timeout"


def break_run(scene):
    return scene.run(scene.script(__file__, ranks=2))


def train(out):
    import train as small
    from datasets import Dataset
    from transformers import TrainingArguments

    def tokenize(row):
        time.sleep(1)
        return row

    # transformers passes the timeout on only where it may choose the device.
    arguments = TrainingArguments(**small.settle(out, ddp_timeout=15, use_cpu=False))
    rows = Dataset.from_dict({"input_ids": [[1, 2, 3]] * 40, "labels": [[1, 2, 3]] * 40})
    with arguments.main_process_first(desc="dataset map tokenization"):
        rows = rows.map(tokenize, desc="Running tokenizer on dataset", load_from_cache_file=False)
    small.train(out, rows=rows)


if __name__ == "__main__":
    train(*sys.argv[1:])
