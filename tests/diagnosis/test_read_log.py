"""A log is read whatever it is written in, and in pieces that end where lines do."""

import io

import pytest

from laststep.diagnosis import read_log
from laststep.diagnosis.read_log import clean, guess_encoding, read_chunks, split_drawn

TEXT = "第 3 步 killed by signal: Killed\nnext\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_read(encoding):
    text = TEXT * 50 if encoding in ("utf-16-le", "utf-16-be") else TEXT
    data = b"".join(chunk.data for chunk in read_chunks(io.BytesIO(text.encode(encoding))))

    assert data.decode().lstrip("\ufeff") == text


def test_what_is_no_text_is_read_as_it_is():
    assert guess_encoding(bytes(range(128, 256)) * 4) == "utf-8"
    assert list(read_chunks(io.BytesIO(b""))) == []


@pytest.mark.parametrize("size", [7, 16, 64])
def test_pieces_end_where_lines_do_and_are_counted(monkeypatch, size):
    monkeypatch.setattr(read_log, "CHUNK_BYTES", size)
    lines = [f"line {number}".encode() for number in range(40)]
    chunks = list(read_chunks(io.BytesIO(b"\n".join(lines))))

    assert b"".join(chunk.data for chunk in chunks) == b"\n".join(lines)
    for chunk in chunks:
        first = chunk.data.split(b"\n")[0]
        assert lines[chunk.first_line - 1].startswith(first[:4])


def test_a_line_without_an_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(read_log, "CHUNK_BYTES", 1000)
    chunks = list(read_chunks(io.BytesIO(b"x" * 100_000)))

    assert max(len(chunk.data) for chunk in chunks) <= 3000
    assert sum(len(chunk.data) for chunk in chunks) == 100_000


def test_colours_and_bars_that_were_drawn_over_are_taken_away():
    assert clean(b"\x1b[31mRuntimeError\x1b[0m: bad") == "RuntimeError: bad"
    assert split_drawn("  1%|\r  2%| x\r\n") == ["1%|", "2%| x"]
    assert len(clean(b"a" * 10_000_000)) < 20_000
