"""What data makes the reported training fail in small?

Rows of one query with positive and negative documents, each document one picture of noise. A script of its own, because
it runs under the training environment's Python, where laststep is not installed:

    python build_data.py OUT.json --rows 60 --no-negative-every 5            several ranks of ms-swift 4.0.0 hang
    python build_data.py OUT.json --rows 8 --pixels 880 --positives 10-10 --negatives 10-10    a worker needs > 7 GiB

Needs numpy and pillow.
"""

import argparse
import json
import os
import random
from pathlib import Path

import numpy as np
from PIL import Image

PICTURES = 40


def main() -> None:
    args = _parse()
    pictures = draw_pictures(args.out.resolve().parent / "pictures", args.pixels)
    rows = make_rows(
        pictures,
        count=args.rows,
        positives=args.positives,
        negatives=args.negatives,
        no_negative_every=args.no_negative_every,
    )
    # Written beside and renamed, so that an interrupted build is never taken for the data.
    unfinished = args.out.with_name(f"{args.out.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(rows))
    unfinished.rename(args.out)


def draw_pictures(folder: Path, pixels: int) -> list[str]:
    """Draw square pictures of noise, the same on every machine."""
    folder.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(0)
    paths = [folder / f"{pixels}_{index}.png" for index in range(PICTURES)]
    for path in paths:
        picture = Image.fromarray(noise.integers(0, 255, (pixels, pixels, 3), dtype=np.uint8))
        if not path.exists():
            unfinished = path.with_suffix(f".{os.getpid()}.png")
            picture.save(unfinished)
            unfinished.rename(path)
    return [str(path) for path in paths]


def make_rows(
    pictures: list[str],
    *,
    count: int,
    positives: tuple[int, int],
    negatives: tuple[int, int],
    no_negative_every: int,
) -> list[dict[str, object]]:
    """Make rows of the reported shape; `no_negative_every` K leaves one row in K with nothing to compare."""
    choose = random.Random(0)  # noqa: S311  # pictures for a test, no secrets
    rows = []
    for index in range(count):
        good, bad = choose.randint(*positives), choose.randint(*negatives)
        if no_negative_every and index % no_negative_every == no_negative_every - 2:
            bad = 0
        rows.append(_row(index, [choose.choice(pictures) for _ in range(good + bad)], good))
    return rows


def _row(index: int, pictures: list[str], positives: int) -> dict[str, object]:
    def documents(chosen: list[str]) -> list[list[dict[str, str]]]:
        return [[{"role": "assistant", "content": "<image>"}] for _ in chosen]

    good, bad = pictures[:positives], pictures[positives:]
    return {
        "messages": [{"role": "user", "content": f"find picture number {index}"}],
        "images": [],
        "positive_messages": documents(good),
        "positive_images": [[picture] for picture in good],
        "negative_messages": documents(bad),
        "negative_images": [[picture] for picture in bad],
    }


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write a reranker data set of the reported shape.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--pixels", type=int, default=64)
    parser.add_argument("--positives", type=_interval, default=(1, 4), metavar="LOW-HIGH")
    parser.add_argument("--negatives", type=_interval, default=(1, 4), metavar="LOW-HIGH")
    parser.add_argument("--no-negative-every", type=int, default=0, metavar="K")
    return parser.parse_args()


def _interval(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


if __name__ == "__main__":
    main()
