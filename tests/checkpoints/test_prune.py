"""What may go goes, and the last sound checkpoint never does."""

from pathlib import Path

import pytest

from laststep.checkpoints.prune import plan_pruning, remove_checkpoints
from laststep.records.checkpoint import CheckedCheckpoint, Soundness
from laststep.records.errors import CheckpointError

STATES = {"s": Soundness.SOUND, "x": Soundness.UNSOUND, "?": Soundness.UNKNOWN}


def checked(states, folder="out"):
    return [
        CheckedCheckpoint(path=f"{folder}/{index}", step=index, soundness=STATES[state], is_sealed=False, size_bytes=7)
        for index, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("states", "keep", "removed"),
    [
        ("ssss", 2, [2, 3]),
        ("xsxs", 1, [0, 2, 3]),
        ("xxs", 3, [0, 1]),
        ("?s?s", 1, [3]),
        ("xxx", 1, []),
        ("s", 1, []),
        ("", 1, []),
    ],
)
def test_only_sound_ones_count(states, keep, removed):
    """Newest first; what is not sound and can be judged goes, as long as a sound one is left."""
    plan = plan_pruning(checked(states), keep=keep)
    assert [one.step for one in plan.removed] == removed
    assert plan.freed_bytes == 7 * len(removed)


def test_keeping_none_is_refused():
    with pytest.raises(CheckpointError, match="keep at least 1"):
        plan_pruning(checked("ss"), keep=0)


def test_removing_removes_those_and_no_others(tmp_path):
    for name in "012":
        (tmp_path / name / "deep").mkdir(parents=True)
    remove_checkpoints(plan_pruning(checked("sss", tmp_path), keep=2).removed)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "1").symlink_to(tmp_path / "kept")
    remove_checkpoints([checked("xs", tmp_path)[1]])
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_what_cannot_be_removed_is_said():
    with pytest.raises(CheckpointError, match="could not be removed"):
        remove_checkpoints(checked("s", Path("/nowhere")))
