"""What the user's limit lets go of goes, and nothing else does."""

import pytest

from laststep.checkpoints.let_go import let_go_of, unmark
from laststep_guard.wire import INCOMPLETE_MARKER


@pytest.fixture
def output(tmp_path):
    for step in (3, 6, 9):
        (tmp_path / "out" / f"checkpoint-{step}").mkdir(parents=True)
    return tmp_path / "out"


def test_older_ones_beside_the_new_one_go(output):
    gone = let_go_of([str(output / "checkpoint-3"), str(output / "checkpoint-1")], newer=output / "checkpoint-9")

    assert gone == [output / "checkpoint-3"]  # the other one is gone already
    assert sorted(path.name for path in output.iterdir()) == ["checkpoint-6", "checkpoint-9"]


def test_nothing_else_goes(output, tmp_path):
    """An event is a text in a file, and a file can be garbled."""
    (output / "data").mkdir()
    (tmp_path / "checkpoint-3").mkdir()
    (output / "checkpoint-2").symlink_to(output / "data")
    asked = [output / "data", output, tmp_path / "checkpoint-3", output / "checkpoint-2", output / "checkpoint-9"]
    asked += [output / ".." / "checkpoint-3", "/", "", output / "checkpoint-6" / ".." / ".."]

    assert let_go_of([str(path) for path in asked], newer=output / "checkpoint-9") == []
    assert (tmp_path / "checkpoint-3").is_dir()
    assert (output / "data").is_dir()


@pytest.mark.parametrize(("text", "stays"), [("laststep: no space\n", False), ("", False), ("saving", True)])
def test_only_our_own_mark_is_taken_back(output, text, stays):
    marker = output / "checkpoint-3" / INCOMPLETE_MARKER
    marker.write_text(text)
    unmark(output / "checkpoint-3")
    unmark(output / "checkpoint-6")

    assert marker.exists() is stays
