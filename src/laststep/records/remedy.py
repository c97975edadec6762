"""What is to be done so that the next attempt gets further?"""

import enum
from dataclasses import dataclass

from laststep.records.outcome import Judgement
from laststep.records.resume import ResumePoint


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAttempt:
    """What an attempt that is over means for the next one."""

    judgement: Judgement
    last_step: int | None  # the highest step that all its ranks made; None: no trainer was seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change to try."""

    change: str
    remedy_class: str  # one of wire.REMEDY_CLASSES
    point: ResumePoint | None = None  # where the next attempt goes on; None, before the first: at step 0


class NoRemedy(enum.Enum):
    """Why there is nothing more to try."""

    NOTHING_FAILED = "nothing failed"
    NOTHING_TO_GO_ON_FROM = "nothing to go on from"
    WITHOUT_PROGRESS = "without progress"
