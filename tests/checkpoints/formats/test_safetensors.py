"""A safetensors file is what its header says, and its numbers can be looked at without a numeric library."""

import json
import struct

import pytest

from laststep.checkpoints.formats import safetensors
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import ProblemKind as Kind

# A finite number, the largest finite one, and what is not finite, in little-endian bytes.
NUMBERS = {
    "F32": ("0000803f", "ffff7f7f", ["0000c07f", "0000807f", "000080ff", "010080ff"]),
    "BF16": ("803f", "7f7f", ["c07f", "807f", "80ff"]),
    "F16": ("003c", "ff7b", ["007e", "007c", "00fc"]),
    "F64": ("000000000000f03f", "ffffffffffffef7f", ["000000000000f87f", "000000000000f0ff"]),
    "F8_E4M3": ("38", "7e", ["7f", "ff"]),
    "F8_E5M2": ("3c", "7b", ["7c", "7d", "fc", "ff"]),
}


def write(path, entries, data, header=None):
    text = header if header is not None else json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def kinds(path, **options):
    look = Look(path=path, name=path.name, size=path.stat().st_size, **options)
    return [problem.kind for problem in safetensors.read(look).problems]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_what_is_not_finite_is_told_from_the_largest_number(tmp_path, dtype):
    one, largest, others = NUMBERS[dtype]
    for number, expected in [(largest, []), *((other, [Kind.NOT_FINITE]) for other in others)]:
        data = bytes.fromhex(one * 5 + number + one * 2)
        write(tmp_path / "x", {"w": {"dtype": dtype, "shape": [8], "data_offsets": [0, len(data)]}}, data)
        assert kinds(tmp_path / "x", is_deep=True) == expected, number


def test_integers_are_finite(tmp_path):
    write(tmp_path / "x", {"w": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}, b"\xff" * 8)
    assert kinds(tmp_path / "x", is_deep=True) == []


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "entries",
    [
        {"w": {**ENTRY, "dtype": "F33"}},
        {"w": {**ENTRY, "shape": [3]}},
        {"w": {**ENTRY, "shape": [-2]}},
        {"w": {**ENTRY, "shape": [2.0]}},
        {"w": {**ENTRY, "data_offsets": [8, 0]}},
        {"w": {**ENTRY, "data_offsets": [4, 12]}},
        {"w": {**ENTRY, "data_offsets": [0]}},
        {"w": {**ENTRY, "more": 1}},
        {"w": 1},
        {"w": ENTRY, "v": ENTRY},
        {"__metadata__": {"format": "qt"}, "w": ENTRY},
        [],
    ],
)
def test_a_header_that_makes_no_sense_is_torn(tmp_path, entries):
    write(tmp_path / "x", entries, bytes(8))
    assert kinds(tmp_path / "x") == [Kind.TORN]


@pytest.mark.parametrize("data", [bytes(7), bytes(9), b""])
def test_more_or_less_data_than_described_is_torn(tmp_path, data):
    write(tmp_path / "x", {"w": ENTRY}, data)
    assert kinds(tmp_path / "x") == [Kind.TORN]


def test_a_name_that_is_there_twice_is_torn(tmp_path):
    entry = json.dumps(ENTRY)
    write(tmp_path / "x", {}, bytes(8), header=f'{{"w": {entry}, "w": {entry}}}'.encode())
    assert kinds(tmp_path / "x") == [Kind.TORN]


def test_zeros_of_rows_are_values(tmp_path):
    """Untouched rows of an embedding."""
    data = b"\x01" * 8192 + bytes(16384) + b"\x01" * 8192
    write(tmp_path / "x", {"w": {"dtype": "F32", "shape": [4, 2048], "data_offsets": [0, len(data)]}}, data)
    assert kinds(tmp_path / "x") == []


def test_zeros_in_the_middle_of_a_row_that_fill_a_page_are_lost_data(tmp_path):
    data = bytearray(b"\x01" * 65536)
    write(tmp_path / "x", {"w": {"dtype": "F32", "shape": [16, 1024], "data_offsets": [0, len(data)]}}, bytes(data))
    whole = bytearray((tmp_path / "x").read_bytes())
    whole[8192:16384] = bytes(8192)
    (tmp_path / "x").write_bytes(whole)
    assert kinds(tmp_path / "x") == [Kind.ZERO_FILLED]
    assert kinds(tmp_path / "x", reads_data=False) == []
