"""Is it something else in place of the file?"""

from laststep.checkpoints import problems
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem, ProblemKind

LFS_START = b"version https://git-lfs.github.com/spec/v1"  # see git-lfs, docs/spec.md
PAGE = 4096
LEAST_TAIL = 64  # bytes
_VALUE = 8  # bytes of the largest numbers
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
    """Name zeros at the end that begin with a page: blocks that never reached the disk. A cut leaves any number."""
    at = look.size
    with look.path.open("rb") as file:
        while at > 0:
            step = (at - 1) % PAGE + 1
            file.seek(at - step)
            rest = len(file.read(step).rstrip(b"\0"))
            at -= step
            if rest:
                at += rest
                break
    begin = -(-at // PAGE) * PAGE
    # The last value before the page may itself end in zero bytes.
    is_lost = begin - at < _VALUE and look.size - begin >= LEAST_TAIL
    return zeros(look.name, look.size - begin, begin) if is_lost else None


def zeros(name: str, count: int, at: int) -> Problem:
    return problems.report(ProblemKind.ZERO_FILLED, name, problems.ZERO_FILLED, count=count, at=at)
