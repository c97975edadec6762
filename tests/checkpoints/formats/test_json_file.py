"""A JSON file is whole, or it is said where it is not."""

import pytest

from laststep.checkpoints.formats import json_file
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import ProblemKind as Kind


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (b'{"a": [1, 2', Kind.TORN, "ends in the middle"),
        (b'{"a": 1}x', Kind.TORN, "line 1, column 9"),
        (b'{"a":\x001}', Kind.TORN, "no JSON"),
        (b'{"a": 1' + bytes(100), Kind.ZERO_FILLED, "100 zero bytes stand at byte 7"),
        (b'{"a": "\xff"}', Kind.TORN, "byte 7 is not UTF-8"),
        (b'{"a": 1, "a": 2}', Kind.TORN, "'a' is in it twice"),
        (b"[" * 100_000, Kind.TORN, "nested too deeply"),
        (b"1" * 10_000, Kind.TORN, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, data, kind, said):
    path = tmp_path / "x.json"
    path.write_bytes(data)

    (problem,) = json_file.read(Look(path=path, name="x.json", size=len(data))).problems

    assert problem.kind is kind
    assert said in problem.words.en
