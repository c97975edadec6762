"""Which checkpoints does a limit let go of, when some saves have failed?"""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep_guard.guards.retention import (
    Kept,
    choose_left_over,
    choose_removals,
    has_room,
    list_kept,
    measure,
    remove,
)
from laststep_guard.wire import INCOMPLETE_MARKER, MANIFEST_NAME

LIMITS = st.one_of(st.none(), st.integers(-1, 5))


def kept(text):
    """Describe checkpoints, oldest first: `s` sound, `S` sealed, `x` not whole."""
    return [Kept(f"/out/checkpoint-{n}", letter != "x", letter == "S") for n, letter in enumerate(text)]


def names(paths):
    return [int(path.rpartition("-")[2]) for path in paths]


def stock(count, limit, best):
    """The rule of transformers 5: the oldest go, but neither the newest nor the best."""
    protected = {count - 1} | ({best} if best is not None else set())
    left = list(range(count))
    for one in range(count):
        if len(left) > max(limit, len(protected)) and one not in protected:
            left.remove(one)
    return sorted(set(range(count)) - set(left))


@given(st.integers(1, 8), st.integers(1, 5), st.data())
def test_where_all_saves_went_well_it_is_the_rule_of_the_trainer(count, limit, data):
    best = data.draw(st.none() | st.integers(0, count - 1))
    path = None if best is None else f"/out/checkpoint-{best}"

    assert names(choose_removals(kept("s" * count), limit, path, is_newest_sound=True)) == stock(count, limit, best)


@given(st.text("sSx", max_size=8), LIMITS, st.integers(0, 1), st.booleans())
def test_the_newest_sound_one_stays_and_without_a_limit_all_do(text, limit, room_for, is_newest_sound):
    going = names(choose_removals(kept(text), limit, None, room_for=room_for, is_newest_sound=is_newest_sound))
    sound = [n for n, letter in enumerate(text) if letter in "sS"]
    sealed = [n for n, letter in enumerate(text) if letter == "S"]

    assert not set(sound[-1:]) & set(going)
    assert is_newest_sound or not set(sealed[-1:]) & set(going)
    if limit is None or limit < 1 or not sound:
        assert going == []


@pytest.mark.parametrize(
    ("text", "limit", "room_for", "going"),
    [
        ("sss", 2, 0, [0]),
        ("sxs", 2, 0, [1]),  # the failed one takes nobody's place
        ("ssx", 2, 1, [2, 0]),  # its room, and that of the oldest, which would go after the save
        ("sx", 1, 1, [1]),  # never the last sound one
        ("Ssx", 2, 1, [2]),  # the newest is not sealed yet, so the one that is stays
        ("xx", 1, 1, []),
    ],
)
def test_only_sound_ones_count(text, limit, room_for, going):
    assert names(choose_removals(kept(text), limit, None, room_for=room_for)) == going


def test_what_a_failed_save_left_goes_where_there_is_a_limit():
    assert names(choose_left_over(kept("sxx"), 2)) == [1, 2]
    assert choose_left_over(kept("sxx"), None) == []
    assert choose_left_over(kept("xx"), 2) == []


def test_checkpoints_are_listed_by_age_and_with_what_is_known_of_them(tmp_path):
    for step, age in ((9, 300), (3, 200), (6, 100)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if step == 3:
            (folder / INCOMPLETE_MARKER).touch()
        if step == 6:
            (folder / MANIFEST_NAME).touch()
        os.utime(folder, (1e9 - age, 1e9 - age))
    (tmp_path / "checkpoint-last").symlink_to(tmp_path / "checkpoint-6")
    (tmp_path / "logs").mkdir()

    listed = list_kept(str(tmp_path))

    assert names(one.path for one in listed) == [9, 3, 6]  # an older run got further
    assert [one.is_sound for one in listed] == [True, False, True]
    assert [one.is_sealed for one in listed] == [False, False, True]


def test_where_all_are_of_one_moment_the_steps_tell_their_age(tmp_path):
    """As on a file system that keeps no times."""
    for step in (10, 9, 100):
        (tmp_path / f"checkpoint-{step}").mkdir()
        os.utime(tmp_path / f"checkpoint-{step}", (1e9, 1e9))

    assert names(one.path for one in list_kept(str(tmp_path))) == [9, 10, 100]


def test_a_checkpoint_is_measured_and_removed(tmp_path):
    checkpoint = tmp_path / "checkpoint-1"
    (checkpoint / "inner").mkdir(parents=True)
    (checkpoint / "inner" / "a").write_bytes(b"x" * 100)
    (checkpoint / "b").write_bytes(b"x" * 10)

    assert measure(str(checkpoint)) == 110
    assert has_room(str(tmp_path), 110)
    assert not has_room(str(tmp_path), 1 << 60)
    remove([str(checkpoint), str(tmp_path / "gone")])
    assert list(tmp_path.iterdir()) == []
