"""A tokenizing worker of `datasets` outgrows a container with 2 GiB before the first step."""

import sys

CAUSE = "host-memory.preprocessing"


def break_run(scene):
    broken = scene.run(scene.script(__file__), limit="2500M")
    return broken.expect(broken.oom_kills > 0, "the kernel killed nobody")


def train(out):
    import torch
    import train as small
    from datasets import Dataset

    kept = []

    def tokenize(row):
        kept.append(torch.ones(32 << 20))
        return {"input_ids": [ord(letter) % small.WORDS for letter in row["text"]]}

    rows = Dataset.from_dict({"text": [f"row {number} has words" for number in range(200)]})
    rows = rows.map(tokenize, num_proc=2, desc="Tokenizing train dataset")
    small.train(out, rows=rows)


if __name__ == "__main__":
    train(*sys.argv[1:])
