"""Which checkpoints does the user mean?"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Protocol

import typer

from laststep.checkpoints.find import find_checkpoints
from laststep.cli import render
from laststep.records.checkpoint import CheckedCheckpoint, Soundness
from laststep.records.errors import CheckpointError
from laststep.records.text import Language, Text, join_texts

CheckpointPaths = Annotated[list[Path], typer.Argument(metavar="PATH", help="Output folders, or checkpoints.")]

_NONE = Text(
    en="There is no checkpoint in {path}: no folder in it is called checkpoint-N, nor in a launch's vN-… folder.",
    zh="{path} 中没有检查点：其中以及 vN-… 启动目录中都没有名为 checkpoint-N 的目录。",
)


class _Check(Protocol):
    def __call__(self, path: Path, *, progress: Callable[[int, int], None] | None) -> CheckedCheckpoint: ...


def find_all(paths: Sequence[Path], language: Language, *, may_be_none: bool = False) -> list[Path]:
    """Find the checkpoints of all paths; a path without any is said, and nothing at all is an error."""
    found: list[Path] = []
    empty: list[Text] = []
    for path in paths:
        below = find_checkpoints(path)
        found += below
        if not below:
            empty.append(_NONE.fill(path=path))
    if empty and not found and not may_be_none:
        raise CheckpointError(join_texts(empty))
    for text in empty:
        render.StderrConsole(language).say(text)
    return list(dict.fromkeys(found))


def check_all(paths: Sequence[Path], check: _Check) -> list[CheckedCheckpoint]:
    """Check one after the other, and show how far it is."""
    checked = []
    progress = render.Progress(len(paths))
    for path in paths:
        progress.begin(path.name)
        checked.append(check(path, progress=progress.tick))
    progress.end()
    return checked


def are_all_sound(checked: Sequence[CheckedCheckpoint]) -> bool:
    return all(one.soundness is Soundness.SOUND for one in checked)
