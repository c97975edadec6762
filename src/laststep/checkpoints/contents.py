"""What lies in a checkpoint, and what was read out of it?"""

import os
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text
from laststep_guard.wire import MANIFEST_NAME

_UNREADABLE = Text(en="cannot be read: {reason}", zh="无法读取：{reason}")
DEEPEST = 8  # folders within a checkpoint; DeepSpeed and FSDP need two


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The files of a checkpoint by their names relative to it, with `/`, and their sizes."""

    root: Path
    files: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    changed_at: float = 0.0  # when the last of them was written

    def path(self, name: str) -> Path:
        return self.root / name


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorPlace:
    """A tensor as a header describes it; `begin` and `end` count from the start of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read out of one file."""

    problems: tuple[Problem, ...] = ()
    value: Any = None  # of JSON, or of a pickle as far as it is plain
    tensors: Mapping[str, TensorPlace] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCheckpoint:
    """A checkpoint whose files were read; what the kinds of checkpoints judge."""

    contents: Contents
    readings: Mapping[str, Reading]
    step: int | None = None  # that the checkpoint is for
    is_deep: bool = False
    same: AbstractSet[str] = frozenset()  # files whose content is known to be what it was
    tick: Callable[[int], None] = lambda _: None

    def has(self, name: str) -> bool:
        return name in self.contents.files

    def within(self, folder: str) -> dict[str, int]:
        """Give the files of a folder, by the names they have in it."""
        start = f"{folder}/" if folder else ""
        found = {name[len(start) :]: size for name, size in self.contents.files.items() if name.startswith(start)}
        return {name: size for name, size in found.items() if "/" not in name}

    def value(self, name: str) -> Any:
        reading = self.readings.get(name)
        return None if reading is None else reading.value

    def mapping(self, name: str) -> Mapping[Any, Any]:
        """Give the value of a file where it is a mapping, else an empty one."""
        value = self.value(name)
        return value if isinstance(value, Mapping) else {}


def list_contents(root: Path) -> Contents:
    """List all files below a checkpoint; what cannot be looked at is a problem."""
    files: dict[str, int] = {}
    problems: list[Problem] = []
    newest = 0.0
    for name, entry in _walk(root, "", problems, depth=0):
        try:
            facts = entry.stat()
        except OSError as error:
            problems.append(unreadable(name, error))
            continue
        files[name] = facts.st_size
        if name != MANIFEST_NAME:  # which comes later than the save
            newest = max(newest, facts.st_mtime)
    return Contents(root=root, files=files, problems=tuple(problems), changed_at=newest)


def unreadable(name: str | None, error: OSError) -> Problem:
    """Say why a file cannot be looked at."""
    reason = error.strerror or type(error).__name__
    return Problem(kind=ProblemKind.UNREADABLE, file=name, words=_UNREADABLE.fill(reason=reason))


def _walk(
    folder: Path, prefix: str, problems: list[Problem], *, depth: int
) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(unreadable(prefix.rstrip("/") or None, error))
        return
    for entry in entries:
        name = prefix + entry.name
        # A link to a folder may lead in circles, and no framework writes one into a checkpoint.
        if entry.is_dir(follow_symlinks=False):
            if depth < DEEPEST:
                yield from _walk(folder / entry.name, f"{name}/", problems, depth=depth + 1)
        elif not (entry.is_symlink() and os.path.isdir(entry.path)):  # noqa: PTH112  # says no to a loop, where Path raises
            yield name, entry
