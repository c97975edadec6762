"""A data set with every kind of row that a reranker can meet, and noise for its pictures."""

from pathlib import Path

import numpy as np
from PIL import Image


def make_rows(folder: Path, *, mixed: bool = False) -> list:
    """Make the rows; `mixed` adds three of the same documents: with and without pictures, only with, only without.

    Stock cannot train on the first of the three.
    """
    noise = np.random.default_rng(0)

    def image(pixels: int) -> str:
        path = folder / f"{noise.integers(1 << 40)}.png"
        Image.fromarray(noise.integers(0, 255, (pixels, pixels, 3), dtype=np.uint8)).save(path)
        return str(path)

    def row(query: str, positives: list, negatives: list) -> dict:
        result = {"messages": [{"role": "user", "content": query}], "images": []}
        for kind, documents in (("positive", positives), ("negative", negatives)):
            texts = ["<image>" * document[1] + document[0] for document in documents]
            result[f"{kind}_messages"] = [[{"role": "assistant", "content": text}] for text in texts]
            result[f"{kind}_images"] = [
                [image(64 + 32 * index) for _ in range(document[1])] for index, document in enumerate(documents)
            ]
        return result

    def documents(count: int, images: int, word: str) -> list:
        return [(f"{word} " * (1 + 3 * index), images) for index in range(count)]

    rows = [
        row("pictures", documents(3, 1, "yes"), documents(4, 1, "no")),
        row("other pictures of another length", documents(2, 1, "so"), documents(1, 1, "not so")),
        row("only words", documents(2, 0, "word"), documents(3, 0, "other word")),
        row("nothing to compare", documents(2, 1, "lonely"), []),
        row("nothing either", documents(1, 1, "alone"), []),
        row("more than are drawn", documents(11, 0, "many"), documents(12, 0, "more")),
        row("two images each", documents(2, 2, "pair"), documents(2, 2, "couple")),
    ]
    if mixed:
        words, pictures = [("words", 0), ("other words", 0)], [("picture", 1), ("other picture", 1)]
        rows += [
            row("mixed", [words[0], pictures[0]], [pictures[1], words[1]]),
            row("mixed", pictures[:1], pictures[1:]),
            row("mixed", words[:1], words[1:]),
        ]
        rows[-2]["positive_images"] = rows[-3]["positive_images"][1:]
        rows[-2]["negative_images"] = rows[-3]["negative_images"][:1]
    return rows
