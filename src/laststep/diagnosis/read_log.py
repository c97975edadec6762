"""How is a log read that may be anything: huge, cut off, in another encoding, or text pasted out of a chat?"""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 4 * 1024 * 1024
_LONGEST_LINE_BYTES = 16 * 1024  # of a longer one the beginning and the end are looked at
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]")
_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of a log, as UTF-8. `first_line` counts from 1 in each log."""

    data: bytes
    first_line: int
    source: str = ""  # the name of the log


def read_chunks(file: BinaryIO, source: str = "", first_line: int = 1) -> Iterator[Chunk]:
    """Read a log in pieces that end where lines end; a line longer than a piece is cut.

    The last line goes with the piece before it, also where it has no end: it is read together with what led to it.
    """
    head = file.read(CHUNK_BYTES)
    encoding = guess_encoding(head[:65536])
    decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding != "utf-8" else None
    whole, rest, line = b"", b"", first_line
    piece = head
    while piece:
        text = decoder.decode(piece).encode("utf-8", "replace") if decoder is not None else piece
        if whole:
            yield Chunk(whole, line, source)
            line += whole.count(b"\n")
        whole, rest = _split(rest + text)
        piece = file.read(CHUNK_BYTES)
    if whole or rest:
        yield Chunk(whole + rest, line, source)


def _split(data: bytes) -> tuple[bytes, bytes]:
    """Split behind the last whole line; a line that grows beyond measure is cut where it is."""
    end = data.rfind(b"\n") + 1
    if not end and len(data) >= 2 * CHUNK_BYTES:
        end = len(data)
    return data[:end], data[end:]


def guess_encoding(head: bytes) -> str:
    """Guess how a log was written: by its mark, by zero bytes, or as GB18030 where it is no UTF-8 and that fits."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if head and head.count(0) * 5 > len(head):
        return "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"
    if _fits(head, "utf-8") or not _fits(head, "gb18030"):
        return "utf-8"
    return "gb18030"


def clean(line: bytes) -> str:
    """Turn a line into what a person saw of it: no colours, and of a bar that was drawn again and again the last."""
    if len(line) > _LONGEST_LINE_BYTES:
        line = line[: _LONGEST_LINE_BYTES // 2] + line[-_LONGEST_LINE_BYTES // 2 :]
    return _ANSI.sub("", line.decode("utf-8", "replace"))


def split_drawn(text: str) -> list[str]:
    """Split a line at carriage returns: what was drawn over each other, and what was printed behind it."""
    return [part.strip() for part in text.split("\r") if part.strip()]


def open_text(text: str) -> BinaryIO:
    return io.BytesIO(text.encode("utf-8", "replace"))


def _fits(data: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)("strict").decode(data)
    except UnicodeDecodeError:
        return False
    return True
