"""What happened to a run, as far as evidence shows?"""

import enum
from dataclasses import dataclass, field

from laststep.records.text import Text


class Certainty(enum.Enum):
    """How sure a verdict is."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"


class Retry(enum.Enum):
    """Is trying again worth it? Another question than what failed."""

    AS_IS = "as-is"  # what it was may be over
    AFTER_CHANGE = "after-change"  # the same command fails the same way
    AFTER_REPAIR = "after-repair"  # the same command gets through once the machine, its software or files are put right
    POINTLESS = "pointless"  # there is nothing left to do
    OPEN = "open"  # not before the cause is known


class Phase(enum.Enum):
    """What a run was doing, as far as its log shows."""

    LOADING = "loading"  # the model
    PREPARING = "preparing"  # the data
    TRAINING = "training"
    EVALUATING = "evaluating"
    SAVING = "saving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where the run was when a line was printed; None for what the log does not show."""

    time: str | None = None  # as the log writes it
    rank: int | None = None
    phase: Phase | None = None
    step: int | None = None  # the last that was made
    target_step: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that is really in the input, quoted. `line` counts from 1; None for what is no line of a file."""

    source: str
    line: int | None
    text: str
    where: Whereabouts | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do about it."""

    title: Text
    remedy_class: str  # identical, equivalent or altering
    change: str | None = None  # the name of a change that makes the command say it
    command: str | None = None  # the whole command, corrected


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One cause, with what speaks for it."""

    cause: str  # family.cause
    certainty: Certainty
    confidence: float  # 0 to 1
    explanation: Text  # all in one paragraph, for who reads nothing else
    summary: Text  # what it is and means
    evidence: tuple[Evidence, ...] = ()
    advice: tuple[Advice, ...] = ()
    retry: Retry = Retry.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What an input shows: the cause, what competes with it, and what else went wrong."""

    path: str
    verdict: Verdict
    alternatives: tuple[Verdict, ...] = ()  # for the same failure, the likeliest first
    also: tuple[Verdict, ...] = field(default=())  # separate problems
    command: str = ""  # the text of the command, where the input holds it
    where: Whereabouts | None = None  # of what failed first
