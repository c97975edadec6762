"""How did the run end, in one word and one number?"""

import enum
from dataclasses import dataclass


class Outcome(enum.Enum):
    """How a run ended."""

    FINISHED = "finished"  # the target step was reached
    STOPPED_EARLY = "stopped_early"  # by the trainer's own rule
    COMMAND_ENDED = "command_ended"  # no trainer was seen; the command's own code speaks
    STOPPED = "stopped"  # on request
    FAILED = "failed"
    UNFINISHED = "unfinished"  # the exit code says finished, the beats say otherwise
    WITHOUT_PROGRESS = "without_progress"  # it failed again and again without a new step
    LOST = "lost"  # the holder was killed, so nobody knows how the command ended


class ExitCode(enum.IntEnum):
    """The codes of `laststep run` that are not the training's own."""

    FINISHED = 0
    USAGE = 2
    BLOCKED = 3
    WITHOUT_PROGRESS = 93
    UNFINISHED = 94
    NOT_EXECUTABLE = 126
    NOT_FOUND = 127
    LOST = 137
    STOPPED = 143


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, its exit code, and the process that decided it."""

    outcome: Outcome
    exit_code: int
    rank: int | None = None  # the rank that failed first
    signal: int | None = None  # the signal that ended it
