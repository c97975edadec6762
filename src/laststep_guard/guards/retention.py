"""Which checkpoints does the user's own limit let go of?

As transformers' `save_total_limit` does it (the newest and the best stay, the oldest go first), except that only sound
ones count: what a failed save has left neither takes the place of a sound one nor survives it.
"""

import os
import shutil
from dataclasses import dataclass
from typing import List, Optional

from laststep_guard.guards.failed_writes import read_free_bytes
from laststep_guard.wire import INCOMPLETE_MARKER, MANIFEST_NAME

_PREFIX = "checkpoint-"
_SAME_TIME_SECONDS = 1.0  # between the oldest and the newest: a file system that keeps no times


@dataclass(frozen=True)
class Kept:
    """A checkpoint that is there."""

    path: str
    is_sound: bool = True  # as far as nobody has said otherwise
    is_sealed: bool = False


def list_kept(folder: str) -> List[Kept]:
    """List the checkpoints of an output folder, oldest first. Raises OSError."""
    found = sorted(
        (entry.stat().st_mtime, entry.path)
        for entry in os.scandir(os.path.abspath(folder))
        if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False)
    )
    if len(found) > 1 and found[-1][0] - found[0][0] < _SAME_TIME_SECONDS:
        found.sort(key=lambda pair: (_read_step(pair[1]), pair))
    return [
        Kept(
            path,
            not os.path.exists(os.path.join(path, INCOMPLETE_MARKER)),
            os.path.exists(os.path.join(path, MANIFEST_NAME)),
        )
        for _, path in found
    ]


def choose_removals(
    kept: List[Kept], limit: Optional[int], best: Optional[str], *, room_for: int = 0, is_newest_sound: bool = False
) -> List[str]:
    """Choose which of the checkpoints, oldest first, go. `room_for`: how many are about to be written.

    The newest one and the best one are never chosen, nor is anything where there is no limit; nor the newest sealed
    one, unless it is certain that the newest one is sound.
    """
    sound = [one.path for one in kept if one.is_sound]
    if limit is None or limit <= 0 or not sound:
        return []
    sealed = [one.path for one in kept if one.is_sealed and one.is_sound]
    protected = {sound[-1], *([] if is_newest_sound else sealed[-1:])}
    protected |= {os.path.abspath(best)}.intersection(sound) if best is not None else set()
    excess = len(sound) - max(limit - room_for, len(protected))
    going = [path for path in sound if path not in protected][: max(0, excess)]
    return choose_left_over(kept, limit) + going


def choose_left_over(kept: List[Kept], limit: Optional[int]) -> List[str]:
    """Choose what failed saves have left. Nothing goes where there is no limit, or no sound one."""
    is_limited = limit is not None and limit > 0 and any(one.is_sound for one in kept)
    return [one.path for one in kept if not one.is_sound] if is_limited else []


def measure(path: str) -> int:
    """Count the bytes of a checkpoint."""
    files = (os.path.join(place, name) for place, _, names in os.walk(path) for name in names)
    return sum(os.lstat(file).st_size for file in files)


def has_room(folder: str, needed: int) -> bool:
    """Whether a folder's disk has room for so many bytes, as far as that can be told."""
    free = read_free_bytes(folder)
    return free is None or free >= needed


def remove(paths: List[str]) -> None:
    """Remove checkpoints as far as that goes."""
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def _read_step(path: str) -> int:
    digits = os.path.basename(path)[len(_PREFIX) :]
    return int(digits) if digits.isdigit() else -1
