"""What does a rank leave at a save, and how does it find it again?

One JSON file a save and rank, written whole or not at all, before the checkpoint is: whoever finds the checkpoint
finds it too.
"""

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from laststep_guard import wire

VERSION = 1


@dataclass
class Resume:
    """What this rank goes on from, and what has become of it."""

    step: int
    values: Dict[str, Any]
    is_loader_waiting: bool = True  # until the loader of the resumed epoch has been set back
    are_logs_waiting: bool = True
    kept: List[str] = field(default_factory=list)
    lost: List[str] = field(default_factory=list)

    @property
    def position(self) -> Dict[str, Any]:
        """Where the trainer was in its data; empty at the end of an epoch and where nobody knew."""
        position = self.values.get("position")
        return position if isinstance(position, dict) else {}


def write_states(folder: Optional[str], step: int, rank: int, values: Dict[str, Any]) -> None:
    """Write what a rank needs after a save. Raises OSError and TypeError."""
    if folder is None:
        return
    path = os.path.join(folder, wire.states_name(step, rank))
    beside = f"{path}.{os.getpid()}"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="ascii") as file:
            json.dump({"version": VERSION, "step": step, "rank": rank, **values}, file)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def read_resume(folder: Optional[str], step: int, rank: int, world_size: int) -> Optional[Resume]:
    """Read what a rank goes on from; None when there is nothing. Of another world size, nothing can be set back."""
    if folder is None or not step:
        return None
    try:
        with open(os.path.join(folder, wire.states_name(step, rank)), encoding="ascii") as file:
            values = json.load(file)
    except (OSError, ValueError):
        return _lose(step, "the random states of the loader and the logs: none were left")
    if values.get("version") != VERSION or values.get("world_size") != world_size:
        return _lose(step, f"the random states: {values.get('world_size')} ranks left them")
    return Resume(step, values)


def _lose(step: int, what: str) -> Resume:
    return Resume(step, {}, is_loader_waiting=False, are_logs_waiting=False, lost=[what])
