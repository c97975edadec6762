"""What do the ranks of the next attempt need to go on exactly?

The random states that each left at the save. They stand in the manifest of a sealed checkpoint, and in the folder of
the attempt that made the save.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from laststep.checkpoints.sealed_files import find_manifest
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_object
from laststep.records.resume import ResumePoint
from laststep_guard import wire


def collect_states(place: AttemptFolder, step: int) -> dict[str, Any]:
    """Read what the ranks of an attempt left at the save of a step, by rank."""
    states = {}
    with contextlib.suppress(OSError):
        for path in place.states.iterdir():
            rank = path.name.removeprefix(_PREFIX.format(step=step)).removesuffix(".json")
            if rank.isdecimal() and path.name == wire.states_name(step, int(rank)):
                states[rank] = read_object(path)
    return states


def discard_states(place: AttemptFolder, step: int) -> None:
    """Remove what was left at a save, once its manifest holds it: a long run makes many saves."""
    with contextlib.suppress(OSError):
        for path in place.states.glob(f"{_PREFIX.format(step=step)}*.json"):
            path.unlink()


def hand_on_states(folder: RunFolder, place: AttemptFolder, point: ResumePoint) -> int:
    """Lay ready for an attempt what its ranks go on from; gives how many ranks' states there are."""
    states = _find_states(folder, place, point)
    with contextlib.suppress(OSError):  # without them the resume is as exact as the framework makes it
        place.resume_states.mkdir(mode=0o700, exist_ok=True)
        for rank, values in states.items():
            path = place.resume_states / wire.states_name(point.step, int(rank))
            path.write_bytes(msgspec.json.encode(values))
            path.chmod(0o600)
        return len(states)
    return 0


_PREFIX = "step-{step}-rank-"


def _find_states(folder: RunFolder, place: AttemptFolder, point: ResumePoint) -> Mapping[str, Any]:
    manifest = find_manifest(Path(point.path))
    if manifest is not None and manifest.random_states:
        return manifest.random_states
    # Newest first: the checkpoint on disk is the one that was written last.
    for attempt in reversed(folder.attempts()):
        states = collect_states(attempt, point.step) if attempt.path != place.path else {}
        if states:
            return states
    return {}
