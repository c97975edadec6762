"""Where did a disk or a copy leave zeros in place of tensor data?

A tensor may well hold zeros: fresh adapters, untouched rows of an embedding. They begin and end where a tensor or one
of its rows does. What is lost is lost in pages of 4096 bytes, which lie anywhere in a row.
"""

import bisect
from collections.abc import Iterator, Mapping
from math import prod

from laststep.checkpoints.contents import TensorPlace
from laststep.checkpoints.formats.imposters import PAGE, zeros
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem

Owner = tuple[str, TensorPlace]
CHUNK = 1 << 22  # a multiple of the page
LEAST_TAIL = 16  # bytes of the last page, which is seldom a whole one
_VALUE = 8  # bytes of the largest numbers
_ADAPTER = ".lora_"
_A = ".lora_A."
_ZEROS = bytes(PAGE)


def find_lost_pages(look: Look, tensors: Mapping[str, TensorPlace]) -> Iterator[Problem]:
    """Report the first run of zero pages that no row or tensor explains."""
    owners = sorted(tensors.items(), key=lambda item: item[1].begin)
    for begin, end in _zero_pages(look):
        first, last = _extend(begin, end, look)
        if not _is_explained(first, last, owners, look.size):
            yield zeros(look.name, last - first, first)
            return


def _zero_pages(look: Look) -> Iterator[tuple[int, int]]:
    """Give runs of pages that hold nothing but zeros."""
    begin: int | None = None
    at = 0
    with look.path.open("rb") as file:
        while chunk := file.read(CHUNK):
            look.tick(len(chunk))
            for page in range(0, len(chunk), PAGE):
                length = min(PAGE, len(chunk) - page)
                is_zero = not chunk[page] and chunk.startswith(_ZEROS[:length], page)
                if is_zero and begin is None:
                    begin = at + page
                elif not is_zero and begin is not None:
                    yield begin, at + page
                    begin = None
            at += len(chunk)
    if begin is not None and at - begin >= LEAST_TAIL:
        yield begin, at


def _extend(begin: int, end: int, look: Look) -> tuple[int, int]:
    """Find where the zeros around a run of pages really begin and end."""
    with look.path.open("rb") as file:
        file.seek(max(0, begin - PAGE))
        before = file.read(min(PAGE, begin))
        file.seek(end)
        after = file.read(PAGE)
    ahead, behind = len(before) - len(before.rstrip(b"\0")), len(after) - len(after.lstrip(b"\0"))
    # A number may end or begin with zero bytes by itself: so few are no part of the run.
    return begin - (ahead if ahead >= _VALUE else 0), end + (behind if behind >= _VALUE else 0)


def _is_explained(begin: int, end: int, owners: list[Owner], size: int) -> bool:
    """Tell whether zeros begin and end as values do, instead of where a page does in the middle of a row."""
    held = owners[_find_index(begin, owners) : _find_index(end - 1, owners) + 1]
    if any(_A in name and begin <= place.begin < place.end <= end for name, place in held):
        return False  # PEFT never begins with zeros there, and training does not lead to them
    edges = [(begin, held[0] if held else None), (end, held[-1] if held else None)]
    is_row = [edge == size or (owner is not None and _is_row_edge(edge, owner[1])) for edge, owner in edges]
    is_page = [edge % PAGE == 0 or edge == size for edge, _ in edges]
    if all(is_row):
        return True
    if all(is_page):
        return False
    # Beside a matrix that is zero by right, only one edge shows the page.
    is_adapter = any(_ADAPTER in name for name, _ in (*held[:1], *held[-1:]))
    return not (is_adapter and all(row or page for row, page in zip(is_row, is_page, strict=True)))


def _find_index(at: int, owners: list[Owner]) -> int:
    """Find the tensor in which a byte lies, or the first for one of the header."""
    return max(0, bisect.bisect_right(owners, at, key=lambda owner: owner[1].begin) - 1)


def _is_row_edge(edge: int, place: TensorPlace) -> bool:
    # A tensor of one dimension has no rows; only its own ends explain zeros.
    row = (place.end - place.begin) // max(1, prod(place.shape[:-1])) if len(place.shape) > 1 else 0
    return edge in {place.begin, place.end} or (row > 0 and (edge - place.begin) % row == 0)
