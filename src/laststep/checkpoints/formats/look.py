"""At which file is looked, and how closely?"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _no_progress(count: int) -> None:
    del count


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One file of a checkpoint, and how closely it is looked at."""

    path: Path
    name: str  # within the checkpoint
    size: int
    is_deep: bool = False  # are all numbers finite?
    reads_data: bool = True  # false where the content hash is compared anyway
    tick: Callable[[int], None] = _no_progress  # is told how many bytes were read
