"""What the command trains, and where it puts it."""

import pytest

from laststep.planning.name_run import model_name, output_folder
from laststep.records.command import Command


@pytest.mark.parametrize(
    ("argv", "folder"),
    [
        (("swift", "sft", "--output_dir", "out"), "out"),
        (("swift", "sft", "--output_dir=out put"), "out put"),
        (("swift", "sft", "--output_dir", "a", "--output_dir", "b"), "b"),
        (("swift", "sft", "--output_dir"), None),
        (("swift", "sft", "--logging_output_dir", "x"), None),
        (("bash", "train.sh"), None),
    ],
)
def test_the_output_folder_is_the_last_one_named(argv, folder):
    assert output_folder(Command(argv)) == folder


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("swift", "sft", "--model", "/models/Qwen/Qwen3-VL-Reranker-8B/"), "Qwen3-VL-Reranker-8B"),
        (("swift", "sft", "--model", "Qwen/Qwen2.5-7B-Instruct"), "Qwen2.5-7B-Instruct"),
        (("llamafactory-cli", "train", "--model_name_or_path=a b/c: d"), "c-d"),
        (("swift", "sft", "--model", "模型"), "模型"),
        (("swift", "sft", "--model", "m" * 300), "m" * 40),
        (("swift", "sft", "--model", "../.."), "run"),
        (("bash", "jobs/train_big.sh"), "train_big"),
        (("/usr/bin/true",), "true"),
    ],
)
def test_a_run_is_named_after_its_model(argv, name):
    assert model_name(Command(argv)) == name
