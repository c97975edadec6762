"""Which tensors hold numbers that are not finite?

In every floating format such a number has all bits of its exponent set, so the highest byte tells nearly all values
apart; slices and searches of bytes find it without a numeric library, in bounded memory.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from laststep.checkpoints import problems
from laststep.checkpoints.contents import TensorPlace
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

CHUNK = 1 << 22  # a multiple of every width
_NAN_OR_INFINITE = Text(en="numbers that are not finite (NaN or infinite)", zh="非有限数值（NaN 或无穷大）")


@dataclass(frozen=True, slots=True)
class _Floats:
    """How one format marks what is not finite: what its highest byte matches, and then the byte below it."""

    width: int
    highest: re.Pattern[bytes]
    is_confirmed: Callable[[int], bool] | None = None  # by the byte below; None: the highest byte suffices


def _has_top_bit(byte: int) -> bool:
    return byte >= 0x80


def _has_top_bits(byte: int) -> bool:
    return byte >= 0xF0


_FLOATS = {
    "F32": _Floats(4, re.compile(rb"[\x7f\xff]"), _has_top_bit),
    "BF16": _Floats(2, re.compile(rb"[\x7f\xff]"), _has_top_bit),
    "F16": _Floats(2, re.compile(rb"[\x7c-\x7f\xfc-\xff]")),
    "F64": _Floats(8, re.compile(rb"[\x7f\xff]"), _has_top_bits),
    "C64": _Floats(4, re.compile(rb"[\x7f\xff]"), _has_top_bit),
    "F8_E4M3": _Floats(1, re.compile(rb"[\x7f\xff]")),
    "F8_E4M3FNUZ": _Floats(1, re.compile(rb"\x80")),
    "F8_E5M2": _Floats(1, re.compile(rb"[\x7c-\x7f\xfc-\xff]")),
    "F8_E5M2FNUZ": _Floats(1, re.compile(rb"\x80")),
}


def find_not_finite(look: Look, file: BinaryIO, tensors: Mapping[str, TensorPlace]) -> Iterator[Problem]:
    """Name each tensor that holds a NaN or an infinite number; places count from the start of the file."""
    for name, place in sorted(tensors.items(), key=lambda item: item[1].begin):
        floats = _FLOATS.get(place.dtype)
        if floats is not None and _has_not_finite(file, place, floats, look):
            yield problems.report(
                ProblemKind.NOT_FINITE, look.name, problems.NOT_FINITE, tensor=name, what=_NAN_OR_INFINITE
            )


def _has_not_finite(file: BinaryIO, place: TensorPlace, floats: _Floats, look: Look) -> bool:
    file.seek(place.begin)
    left = place.end - place.begin
    while left > 0:
        chunk = file.read(min(CHUNK, left))
        if not chunk:
            return False  # torn: reported by whoever read the header
        look.tick(len(chunk))
        left -= len(chunk)
        highest = chunk[floats.width - 1 :: floats.width]
        for match in _matches(floats, highest):
            below = chunk[match * floats.width + floats.width - 2] if floats.width > 1 else 0
            if floats.is_confirmed is None or floats.is_confirmed(below):
                return True
    return False


def _matches(floats: _Floats, highest: bytes) -> Iterator[int]:
    if floats.is_confirmed is not None and 0x7F not in highest and 0xFF not in highest:  # far quicker than the pattern
        return
    yield from (match.start() for match in floats.highest.finditer(highest))
