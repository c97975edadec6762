"""What has to be known of a launcher's language?"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from laststep.records.settings import Setting

Argv = tuple[str, ...]


class Spelling(enum.Enum):
    """How an option is written."""

    FLAG = "--name value"
    KEY = "name=value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The flags of one launcher, as far as laststep speaks them.

    `add_resume(argv, checkpoint)` gives the command that goes on from a checkpoint; None where the launcher has no
    flag for it, and the guard tells the trainer instead.
    """

    name: str
    recognises: Callable[[Sequence[str]], bool]
    add_resume: Callable[[Sequence[str], str], Argv] | None = None
    resume_flags: tuple[str, ...] = ()  # flags that say where a run goes on, not what it trains
    names: Mapping[Setting, str] = field(default_factory=dict)  # of options, with underscores
    defaults: Mapping[Setting, str] = field(default_factory=dict)  # where the command says nothing, nor a file of it
    variables: Mapping[Setting, str] = field(default_factory=dict)  # what is told by the environment
    spelling: Callable[[Sequence[str]], Spelling] = lambda _: Spelling.FLAG
    may_add: bool = True  # it refuses no option that it has a name for; False: only what is there is changed


def read_flag(argv: Sequence[str], names: Sequence[str]) -> str | None:
    """Read a flag as argparse does: the last one wins, with a space or a `=` before its value."""
    value = None
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        flag, sign, attached = word.partition("=")
        if flag in names:
            value = attached if sign else following
    return value or None


def without_flags(argv: Sequence[str], names: Sequence[str]) -> list[str]:
    """Leave out flags and their values."""
    kept: list[str] = []
    is_value = False
    for word in argv:
        if is_value and not word.startswith("--"):
            is_value = False
            continue
        flag, sign, _ = word.partition("=")
        is_value = flag in names and not sign
        if flag not in names:
            kept.append(word)
    return kept
