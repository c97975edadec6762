"""Is it something else in place of the file?"""

from laststep.checkpoints import problems
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem, ProblemKind

LFS_START = b"version https://git-lfs.github.com/spec/v1"  # see git-lfs, docs/spec.md
PAGE = 4096
LEAST_TAIL = 512  # a file that was cut off may well end in fewer zeros
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<?xml")


def find_imposter(look: Look) -> Problem | None:
    """Name what stands where the file should be: nothing, zeros, a pointer of Git LFS or a web page."""
    if look.size == 0:
        return problems.torn(look.name, problems.EMPTY)
    with look.path.open("rb") as file:
        start = file.read(PAGE)
    if start.startswith(LFS_START):
        return problems.report(ProblemKind.LFS_POINTER, look.name, problems.LFS_POINTER, size=look.size)
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_STARTS):
        return problems.report(ProblemKind.HTML_PAGE, look.name, problems.HTML_PAGE)
    if not start.strip(b"\0"):
        return zeros(look.name, len(start), 0)
    return None


def find_zero_tail(look: Look) -> Problem | None:
    """Name zeros at the end of a file whose format never ends in so many."""
    with look.path.open("rb") as file:
        file.seek(max(0, look.size - PAGE))
        tail = file.read(PAGE)
    count = len(tail) - len(tail.rstrip(b"\0"))
    return zeros(look.name, count, look.size - count) if count >= LEAST_TAIL else None


def zeros(name: str, count: int, at: int) -> Problem:
    return problems.report(ProblemKind.ZERO_FILLED, name, problems.ZERO_FILLED, count=count, at=at)
