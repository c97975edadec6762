"""What does the last report say?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laststep.records.checkpoint import Soundness
from laststep.records.outcome import Judgement
from laststep.records.resume import ResumeVerdict
from laststep.records.text import Text


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that went wrong, and what was done about it. The same fault met again raises the count."""

    kind: str
    count: int
    summary: Text
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint the training reported."""

    path: str
    step: int
    is_there: bool
    soundness: Soundness = Soundness.UNKNOWN  # as the sealing found it


@dataclass(frozen=True, slots=True, kw_only=True)
class LastReport:
    """Everything a user should know when the run is over."""

    judgement: Judgement
    steps: int | None  # None: no trainer was seen
    target_steps: int | None
    attempts: int
    seconds: float
    faults: tuple[Fault, ...]
    checkpoints: tuple[SavedCheckpoint, ...]
    run_id: str
    run_folder: str | None
    unwatched_because: Text | None = None  # why no guard attached
    notes: tuple[Text, ...] = ()
    resumes: tuple[ResumeVerdict, ...] = ()
