"""The model and the data of the demonstration are what the reported run needs."""

import json

import pytest

pytestmark = pytest.mark.slow


def test_every_fifth_row_has_nothing_to_compare(reranker_data):
    rows = json.loads(reranker_data("no-negatives", "--rows", 20, "--no-negative-every", 5).read_text())
    without = [index for index, row in enumerate(rows) if not row["negative_messages"]]
    assert without == [3, 8, 13, 18]
    assert all(len(row["positive_messages"]) == len(row["positive_images"]) for row in rows)


def test_the_model_is_whole_and_small(tiny_model):
    config = json.loads((tiny_model / "config.json").read_text())
    assert config["architectures"] == ["Qwen3VLForConditionalGeneration"]
    assert (tiny_model / "model.safetensors").stat().st_size < 25_000_000
    assert (tiny_model / "tokenizer.json").exists()
