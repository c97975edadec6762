"""Fingerprints are read whatever the moment they were cut off at."""

import math

from laststep.telemetry.read_fingerprints import Fingerprint, read_fingerprints


def test_a_torn_last_line_and_lines_of_others_are_left_out(tmp_path):
    file = tmp_path / "rank-0.jsonl"
    file.write_text(
        '{"step": 1, "rows": "a"}\n[]\n{"rows": "x"}\n{"step": 2, "rows": "b", "loss": 0.1}\n{"step": 3, "ro'
    )

    assert read_fingerprints(file) == {1: Fingerprint("a", None), 2: Fingerprint("b", 0.1)}


def test_a_loss_that_comes_in_a_line_of_its_own_belongs_to_its_step(tmp_path):
    file = tmp_path / "rank-0.jsonl"
    file.write_text('{"step": 1, "rows": "a"}\n{"step": 1, "loss": 0.30000000000000004}\n')

    assert read_fingerprints(file) == {1: Fingerprint("a", 0.30000000000000004)}


def test_a_loss_may_be_no_number(tmp_path):
    file = tmp_path / "rank-0.jsonl"
    file.write_text('{"step": 1, "rows": "a", "loss": NaN}\n')

    assert math.isnan(read_fingerprints(file)[1].loss)


def test_no_file_is_no_fingerprint(tmp_path):
    assert read_fingerprints(tmp_path / "none") == {}
