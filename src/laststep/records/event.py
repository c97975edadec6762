"""What happened, and when?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """A timestamped fact, written by a guard or by laststep itself."""

    time: float  # seconds since the epoch
    kind: str
    pid: int | None = None
    rank: int | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


class OwnEventKind:
    """Names of the events that laststep itself writes; the guard's are in `wire.EventKind`."""

    ATTEMPT_STARTED = "attempt_started"
    ATTEMPT_ENDED = "attempt_ended"
    SUPERVISOR_ATTACHED = "supervisor_attached"
    CHECKPOINT_SEALED = "checkpoint_sealed"  # path, step, soundness, problems [text], seconds
    CHECKPOINTS_REMOVED = "checkpoints_removed"  # paths, newer: the sound checkpoint by which the user's limit was kept
