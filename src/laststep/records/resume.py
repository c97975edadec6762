"""Where does a run go on, and did it go on exactly?"""

import enum
from dataclasses import dataclass

from laststep.records.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCheckpoint:
    """A newer checkpoint that the run does not go on from."""

    path: str
    step: int | None
    reasons: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePoint:
    """The newest sound checkpoint of a run, and what was passed over on the way to it."""

    path: str
    step: int
    skipped: tuple[SkippedCheckpoint, ...] = ()


class Exactness(enum.Enum):
    """How does a resumed attempt compare with what its run did before?"""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeVerdict:
    """One resume, judged by the steps that were made twice."""

    attempt: int
    step: int  # where it went on from
    exactness: Exactness
    compared_steps: int
    reason: Text
