"""Is a safetensors file whole?

The format, from the README of https://github.com/huggingface/safetensors: eight bytes with the length of the header,
the header as JSON, and the tensors' bytes without a gap to the end of the file.
"""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Reading, TensorPlace
from laststep.checkpoints.formats.find_lost_pages import find_lost_pages
from laststep.checkpoints.formats.find_not_finite import find_not_finite
from laststep.checkpoints.formats.find_odd_names import find_odd_names
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem
from laststep.records.text import Text

LARGEST_HEADER = 100_000_000  # bytes; the library refuses more
BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "F64": 64, "I64": 64, "U64": 64,
    "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
_NO_HEADER = Text(
    en="its header of {length:,} bytes does not fit in {size:,}", zh="文件头 {length:,} 字节，超出 {size:,} 字节的文件"
)
_BAD_HEADER = Text(en="its header is damaged: {how}", zh="文件头损坏：{how}")
_BAD_TENSOR = Text(en="the header's entry {name!r} makes no sense", zh="文件头中的 {name!r} 不合理")
_NO_JSON = Text(en="it is no JSON", zh="不是 JSON")
_GAP = Text(en="{name!r} does not begin where the tensor before it ends", zh="{name!r} 与前一个张量不相接")
_WRONG_END = Text(
    en="it has {size:,} bytes, and its header describes {expected:,}",
    zh="文件有 {size:,} 字节，而文件头描述了 {expected:,} 字节",
)
_ODD_NAME = Text(en="tensor {name!r} should be {similar!r}", zh="张量 {name!r} 应为 {similar!r}")


class _HeaderError(ValueError):
    """The header cannot be right."""

    def __init__(self, how: Text) -> None:
        super().__init__(how.en)
        self.how = how


def recognises(name: str) -> bool:
    return name.endswith(".safetensors")


def read(look: Look) -> Reading:
    """Read the header and hold it against the file; look at the data where that is asked for."""
    try:
        tensors = _read_header(look)
    except _HeaderError as error:
        return Reading(problems=(problems.torn(look.name, error.how),))
    return Reading(problems=tuple(_judge(look, tensors)), tensors=tensors)


def _judge(look: Look, tensors: Mapping[str, TensorPlace]) -> Iterator[Problem]:
    end = max((tensor.end for tensor in tensors.values()), default=0)
    if end and end != look.size:
        yield problems.torn(look.name, _WRONG_END, size=look.size, expected=end)
        return
    for name, similar in find_odd_names(tensors):
        yield problems.torn(look.name, _ODD_NAME, name=name, similar=similar)
    if look.reads_data:
        yield from find_lost_pages(look, tensors)
    if look.is_deep:
        with look.path.open("rb") as file:
            yield from find_not_finite(look, file, tensors)


def _read_header(look: Look) -> dict[str, TensorPlace]:
    with look.path.open("rb") as file:
        start = file.read(8)
        (length,) = struct.unpack("<Q", start) if len(start) == 8 else (0,)
        if not 2 <= length <= min(look.size - 8, LARGEST_HEADER):
            raise _HeaderError(_NO_HEADER.fill(length=length, size=look.size))
        text = file.read(length)
    try:
        entries = json.loads(text.decode("utf-8"), object_pairs_hook=_take_once)
    except (ValueError, RecursionError):
        raise _HeaderError(_BAD_HEADER.fill(how=_NO_JSON)) from None
    # The library pads with spaces and begins with a brace.
    if not text.startswith(b"{") or not isinstance(entries, dict):
        raise _HeaderError(_BAD_HEADER.fill(how=_NO_JSON))
    notes = entries.pop("__metadata__", {})
    if not isinstance(notes, dict) or notes.get("format", "pt") not in {"pt", "tf", "flax", "np", "mlx", "paddle"}:
        raise _HeaderError(_BAD_TENSOR.fill(name="__metadata__"))
    places = {name: _place(name, entry, 8 + length) for name, entry in entries.items()}
    _check_contiguous(places, 8 + length)
    return places


def _take_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    taken = dict(pairs)
    if len(taken) != len(pairs):
        raise ValueError
    return taken


def _place(name: str, entry: Any, base: int) -> TensorPlace:
    """Read one entry, whose offsets count from the end of the header."""
    wrong = _HeaderError(_BAD_TENSOR.fill(name=name))
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise wrong
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in BITS or not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise wrong
    begin, end = offsets
    if (end - begin) * 8 != math.prod(shape) * BITS[dtype]:
        raise wrong
    return TensorPlace(dtype=dtype, shape=tuple(shape), begin=base + begin, end=base + end)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 62 for value in values)


def _check_contiguous(places: Mapping[str, TensorPlace], base: int) -> None:
    at = base
    for name, place in sorted(places.items(), key=lambda item: (item[1].begin, item[1].end)):
        if place.begin != at:
            raise _HeaderError(_GAP.fill(name=name))
        at = place.end
