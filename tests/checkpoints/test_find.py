"""Checkpoints are found newest first, and whatever a path leads to has an answer."""

import os
import time

import pytest
from small_checkpoints import write_checkpoint

from laststep.checkpoints.find import find_checkpoints
from laststep.records.errors import CheckpointError


def make(folder, *names):
    for name in names:
        (folder / name).mkdir(parents=True)
    return folder


def found(path):
    return [checkpoint.relative_to(path).as_posix() for checkpoint in find_checkpoints(path)]


def test_the_newest_comes_first_and_numbers_are_numbers(tmp_path):
    make(tmp_path, "checkpoint-9", "checkpoint-100", "checkpoint-20")
    assert found(tmp_path) == ["checkpoint-100", "checkpoint-20", "checkpoint-9"]


def test_the_last_launch_comes_first(tmp_path):
    """Its steps may be lower than those of a launch before it."""
    make(
        tmp_path,
        "v2-20260102-000000/checkpoint-50",
        "v10-20260103-000000/checkpoint-5",
        "v10-20260103-000000/checkpoint-10",
    )
    assert found(tmp_path) == [
        "v10-20260103-000000/checkpoint-10", "v10-20260103-000000/checkpoint-5", "v2-20260102-000000/checkpoint-50",
    ]  # fmt: skip


def test_a_checkpoint_is_itself(checkpoint):
    assert find_checkpoints(checkpoint) == (checkpoint,)


def test_a_checkpoint_of_another_name_is_one(tmp_path):
    path = write_checkpoint(tmp_path / "kept")
    assert find_checkpoints(path) == (path,)


def test_final_weights_beside_checkpoints_do_not_hide_them(tmp_path):
    make(tmp_path, "checkpoint-3")
    (tmp_path / "adapter_config.json").write_text("{}")
    assert found(tmp_path) == ["checkpoint-3"]


def test_names_that_only_begin_so_are_no_checkpoints(tmp_path):
    make(tmp_path, "checkpoint-abc", "checkpoint-", "checkpoint-1-old", "checkpoint--1", "tmp-checkpoint-5", "runs")
    (tmp_path / "checkpoint-7").write_text("a file")
    assert found(tmp_path) == []


def test_an_empty_folder_has_none(tmp_path):
    assert find_checkpoints(tmp_path) == ()


def test_ten_thousand_are_found_at_once(tmp_path):
    make(tmp_path, *(f"checkpoint-{step}" for step in range(10_000)))
    started = time.monotonic()
    assert len(find_checkpoints(tmp_path)) == 10_000
    assert time.monotonic() - started < 5


def test_a_link_that_leads_in_a_circle_is_named(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(CheckpointError, match="cannot be looked into"):
        find_checkpoints(tmp_path / "loop")


def test_circles_below_are_no_checkpoints(tmp_path):
    make(tmp_path, "checkpoint-1")
    (tmp_path / "checkpoint-2").symlink_to(tmp_path / "checkpoint-2")
    (tmp_path / "v0-20260101-000000").symlink_to(tmp_path)
    assert found(tmp_path)[0] == "checkpoint-1"
    assert "checkpoint-2" not in found(tmp_path)


@pytest.mark.parametrize(("name", "said"), [("absent", "does not exist"), ("file", "is a file"), ("a\0b", "cannot be")])
def test_what_is_no_folder_is_said(tmp_path, name, said):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CheckpointError, match=said):
        find_checkpoints(tmp_path / name)


def test_a_closed_folder_is_said(tmp_path):
    make(tmp_path, "closed")
    (tmp_path / "closed").chmod(0)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(CheckpointError, match="cannot be looked into"):
        find_checkpoints(tmp_path / "closed")
