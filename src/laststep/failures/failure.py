"""What does the file of a cause hold?"""

import enum

import msgspec

from laststep.records.text import Text
from laststep.records.verdict import Retry


class Role(enum.Enum):
    """What a signal says about its cause."""

    PROOF = "proof"  # the software says so in as many words
    HINT = "hint"  # seen with it more often than without
    CONTRADICTION = "contradiction"  # seen without it
    CASCADE = "cascade"  # what it drags along; no evidence
    ADVICE = "advice"  # what libraries print beside any failure; no evidence


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What speaks for or against a cause: a line of the log, a part of the command, a fact."""

    name: str
    role: Role
    line: str | None = None  # a regular expression for a line of the log
    command: str | None = None  # one for the command
    fact: str | None = None  # a name in `diagnosis/facts.py`
    needs: tuple[str, ...] = ()  # other signals of this cause without which this one says nothing
    weight: float | None = None  # of this signal, where it is not that of its role


class Remedy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"remedy_class": "class"}):
    """One thing to do."""

    title: Text
    remedy_class: str = "equivalent"
    change: str | None = None  # the name of a change that laststep can make by itself


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A log that has this cause."""

    log: str
    origin: str
    command: str = ""


class NearMiss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A log that looks like it and has another cause."""

    log: str
    why: str
    command: str = ""


class Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"near_misses": "near_miss"}):
    """One cause. Its id is `family.cause`, from where its file lies."""

    title: Text
    meaning: Text
    references: tuple[str, ...]
    signal: tuple[Signal, ...]
    remedy: tuple[Remedy, ...]
    example: tuple[Example, ...]
    near_misses: tuple[NearMiss, ...]
    retry: Retry = Retry.AFTER_CHANGE
    separate: bool = False  # it does not compete with other causes: where it is proven, it is a problem beside them
    goes_on: bool = False  # the run goes on with it, and may finish
    explains: tuple[str, ...] = ()  # causes that are only symptoms where this one is seen
    id: str = ""
