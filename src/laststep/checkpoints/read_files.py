"""What does each file of a checkpoint hold?"""

import re
from collections.abc import Callable, Iterator

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Contents, Reading, unreadable
from laststep.checkpoints.formats.catalog import FORMATS
from laststep.checkpoints.formats.imposters import find_imposter
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import Problem, ProblemKind
from laststep_guard.wire import INCOMPLETE_MARKER, MANIFEST_NAME

_TEMPORARY = re.compile(r".*(?:\.tmp|\.incomplete|\.part)|\.tmp.*|tmp-.*|.*\.tmp\.\d+")
_OUR_LEFTOVER = re.compile(rf"{re.escape(MANIFEST_NAME)}\.\d+\.tmp")


def read_files(contents: Contents, same: set[str], *, is_deep: bool, tick: Callable[[int], None]) -> dict[str, Reading]:
    """Read every file whose format is known; the data of those in `same` is known to be what it was."""
    readings = {}
    for name, size in contents.files.items():
        if name == MANIFEST_NAME:
            continue
        look = Look(
            path=contents.path(name), name=name, size=size, is_deep=is_deep, reads_data=name not in same, tick=tick
        )
        try:
            readings[name] = _read_file(look)
        except OSError as error:
            readings[name] = Reading(problems=(unreadable(name, error),))
    return readings


def find_leftovers(contents: Contents) -> Iterator[Problem]:
    """Report what a save leaves that did not come to its end."""
    for name in contents.files:
        base = name.rpartition("/")[2]
        if base == INCOMPLETE_MARKER:
            yield problems.report(ProblemKind.MARKED_INCOMPLETE, name, problems.MARKED_INCOMPLETE)
        elif _TEMPORARY.fullmatch(base) and not _OUR_LEFTOVER.fullmatch(base):
            yield problems.report(ProblemKind.TORN, name, problems.HALF_WRITTEN)


def _read_file(look: Look) -> Reading:
    form = next((form for form in FORMATS if form.recognises(look.name)), None)
    imposter = find_imposter(look)
    if form is None:
        # Of files nobody knows, emptiness and a page are no news; a pointer of Git LFS always is.
        is_pointer = imposter is not None and imposter.kind is ProblemKind.LFS_POINTER
        return Reading(problems=(imposter,)) if imposter is not None and is_pointer else Reading()
    return Reading(problems=(imposter,)) if imposter is not None else form.read(look)
