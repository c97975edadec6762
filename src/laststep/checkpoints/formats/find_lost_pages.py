"""Where did a disk or a copy leave zeros in place of tensor data?

A tensor may well hold zeros: fresh adapters, untouched rows of an embedding. They begin and end where a tensor or one
of its rows does. What is lost is lost in pages of 4096 bytes, which lie anywhere in a row.
"""

from collections.abc import Iterator, Mapping
from math import prod

from laststep.checkpoints.contents import TensorPlace
from laststep.checkpoints.formats.imposters import PAGE, zeros
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem

CHUNK = 1 << 22  # a multiple of the page
LEAST_TAIL = 16  # bytes of the last page, which is seldom a whole one
_AROUND = 8  # bytes
_ZEROS = bytes(PAGE)


def find_lost_pages(look: Look, tensors: Mapping[str, TensorPlace]) -> Iterator[Problem]:
    """Report the first run of zero pages that no row or tensor explains."""
    places = sorted(tensors.values(), key=lambda place: place.begin)
    for begin, end in _zero_pages(look):
        if not _is_explained(begin, end, places, look):
            yield zeros(look.name, end - begin, begin)
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


def _is_explained(begin: int, end: int, places: list[TensorPlace], look: Look) -> bool:
    """Tell whether zeros go on beyond the pages, or begin and end where rows do; both are what values do."""
    if _goes_on(begin, end, look):
        return True
    return _is_row_edge(begin, begin, places) and (end == look.size or _is_row_edge(end, end - 1, places))


def _goes_on(begin: int, end: int, look: Look) -> bool:
    """Tell whether the bytes around the pages are zeros too: no value of these types has eight bytes of them."""
    with look.path.open("rb") as file:
        file.seek(max(0, begin - _AROUND))
        before = file.read(min(_AROUND, begin))
        file.seek(end)
        after = file.read(_AROUND)
    return any(side and not side.strip(b"\0") for side in (before, after))


def _is_row_edge(edge: int, inside: int, places: list[TensorPlace]) -> bool:
    place = next((place for place in places if place.begin <= inside < place.end), None)
    if place is None:
        return False
    # A tensor of one dimension has no rows; only its own ends explain zeros.
    row = (place.end - place.begin) // max(1, prod(place.shape[:-1])) if len(place.shape) > 1 else 0
    return edge in {place.begin, place.end} or (row > 0 and (edge - place.begin) % row == 0)
