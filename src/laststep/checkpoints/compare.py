"""Are the files those that the manifest names?"""

from collections.abc import Callable, Iterator

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Contents, unreadable
from laststep.checkpoints.hash_file import hash_file
from laststep.checkpoints.sealed_files import Manifest
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

_WAS_SEALED = Text(en="it was there when the checkpoint was sealed", zh="封存时它还在")


def compare_sizes(contents: Contents, manifest: Manifest) -> Iterator[Problem]:
    """Report files that are gone or have another size."""
    for name, seal in manifest.files.items():
        found = contents.files.get(name)
        if found is None:
            yield problems.missing(name, _WAS_SEALED)
        elif found != seal.size:
            yield problems.report(ProblemKind.CHANGED, name, problems.CHANGED_SIZE, found=found, expected=seal.size)


def compare_hashes(
    contents: Contents, manifest: Manifest, tick: Callable[[int], None]
) -> tuple[set[str], list[Problem]]:
    """Give the names of the files whose content is what it was, and the problems of the others."""
    same: set[str] = set()
    found: list[Problem] = []
    for name, seal in manifest.files.items():
        if contents.files.get(name) != seal.size:
            continue
        try:
            is_same = hash_file(contents.path(name), tick) == seal.blake3
        except OSError as error:
            found.append(unreadable(name, error))
            continue
        if is_same:
            same.add(name)
        else:
            found.append(problems.report(ProblemKind.CHANGED, name, problems.CHANGED_HASH))
    return same, found
