"""Which arguments does a program accept, and what is wrong with those it is given?"""

import enum
from dataclasses import dataclass
from typing import Any

from laststep.records.text import Text


class ValueKind(enum.Enum):
    """What an argument's value has to be."""

    TEXT = "str"
    WHOLE = "int"
    NUMBER = "float"
    BOOLEAN = "bool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a program."""

    names: tuple[str, ...]  # as typed, with their dashes
    least: int = 1  # values it takes at the least
    most: int | None = 1  # and at the most; None: any number
    choices: tuple[str, ...] = ()  # none: any value of its kind
    kind: ValueKind = ValueKind.TEXT
    default: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedArguments:
    """What the program that is installed accepts."""

    framework: str  # as pip names it
    version: str
    arguments: tuple[Argument, ...]
    refuses_unknown: bool = True


class ArgumentFault(enum.Enum):
    """What is wrong with an argument."""

    RENAMED = "renamed"
    REMOVED = "removed"
    UNKNOWN = "unknown"
    WRONG_VALUE = "wrong value"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentProblem:
    """One argument that is refused: the words from `begin` to before `end` of a command."""

    fault: ArgumentFault
    begin: int
    end: int
    typed: str  # the argument as typed, without its values
    values: tuple[str, ...] = ()
    reason: Text | None = None  # why it is gone
    accepted: str | None = None  # what is accepted instead of a wrong value, in words
    instead: tuple[str, ...] | None = None  # words to write in its place; none: it is to be left out. None: not known
    variable: tuple[str, str] | None = None  # a variable of the environment that says it instead
    is_guess: bool = False  # `instead` is the name that looks most like it, not one that is known to be it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramArguments:
    """One program of a command, with what is wrong with its arguments."""

    accepted: AcceptedArguments | None  # None: it could not be asked
    problems: tuple[ArgumentProblem, ...] = ()
    unanswered: Text | None = None  # why it could not be asked
