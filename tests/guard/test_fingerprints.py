"""A step's fingerprint tells its rows apart, in every process alike, and a lost line harms nobody."""

import json
import time

from laststep_guard import wire
from laststep_guard.guards.fingerprints import Fingerprints


def read(folder, rank=0):
    return [json.loads(line) for line in (folder / wire.fingerprints_name(rank)).read_text().splitlines()]


def test_the_same_rows_have_the_same_digest_and_others_another(tmp_path):
    fingerprints = Fingerprints(str(tmp_path), 0)

    fingerprints.note_step(1, [[3, 1], [2]])
    fingerprints.note_step(2, [[3, 1], [2]])
    fingerprints.note_step(3, [[3, 1], [4]])

    first, second, third = (line["rows"] for line in read(tmp_path))
    assert first == second != third
    assert len(first) == 16


def test_rows_that_nobody_knows_are_left_open(tmp_path):
    fingerprints = Fingerprints(str(tmp_path), 0)

    fingerprints.note_step(1, [None])
    fingerprints.note_step(2, [])

    assert [line["rows"] for line in read(tmp_path)] == [None, None]


def test_a_loss_keeps_all_its_digits(tmp_path):
    Fingerprints(str(tmp_path), 2).note_loss(7, 0.1 + 0.2)

    assert read(tmp_path, 2) == [{"step": 7, "loss": 0.1 + 0.2}]


def test_what_cannot_be_written_is_dropped(tmp_path):
    Fingerprints(str(tmp_path / "none"), 0).note_step(1, [[1]])
    Fingerprints(None, 0).note_loss(1, 1.0)


def test_a_step_costs_microseconds(tmp_path):
    fingerprints = Fingerprints(str(tmp_path), 0)
    batches = [list(range(16))] * 8
    began = time.perf_counter()

    for step in range(2000):
        fingerprints.note_step(step, batches)

    assert (time.perf_counter() - began) / 2000 < 500e-6  # far above what it takes, for a busy machine
