"""The cache of `datasets` lies on a small file system; the output has room."""

import sys
from pathlib import Path

CAUSE = "disk.cache-location"


def break_run(scene):
    with scene.small_disk(2 << 20) as disk:
        cache = str(disk / "cache")
        return scene.run(scene.script(__file__, scene.work / "output", HF_DATASETS_CACHE=cache))


def train(_out, output):
    import train as small
    from datasets import load_dataset

    rows = f"{output}.jsonl"
    with Path(rows).open("w", encoding="utf-8") as file:
        file.writelines(f'{{"text": "{"word " * 400}{number}"}}\n' for number in range(4000))
    small.train(output, rows=load_dataset("json", data_files=rows, split="train"))


if __name__ == "__main__":
    train(*sys.argv[1:])
