"""Which command does a text hold that was run somewhere else, and how is it given back as text?

It is read without asking this machine whether its program or its files are here. Variables of the shell stay as they
are written.
"""

import re
import shlex
from pathlib import PurePath

from laststep.planning.clean_paste import clean_paste
from laststep.planning.pasted_command import PastedText, SimpleCommand, read_pasted_command
from laststep.planning.settings import knows_launcher
from laststep.records.command import Command
from laststep.records.text import Text

_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\})")
_WRAPPERS = ("nohup", "sudo", "time", "exec")
_PROGRAMS = re.compile(r"(?:swift|torchrun|accelerate|deepspeed|llamafactory-cli|lmf|axolotl|trl|python[\d.]*)$")


def read_foreign_command(text: str) -> Command | None:
    """Read the training command of a text; None where there is none, or where only a shell could read it."""
    pasted = read_pasted_command(clean_paste(text)[0])
    if pasted.unclosed is not None:
        return None
    found = [(simple, command) for simple in pasted.commands if (command := _take(simple, pasted)) is not None]
    known = [pair for pair in found if knows_launcher(pair[1])] or found
    return known[-1][1] if known and _stands_alone(known[-1][0], pasted) else None


def write_text(command: Command, *, is_supervised: bool = False) -> str:
    """Write a command as one line for a shell."""
    words = [f"{name}={_quote(value)}" for name, value in command.environment.items()]
    supervised = ["laststep", "run", "--"] if is_supervised else []
    return " ".join([*supervised, *words, *(_quote(word) for word in command.argv)])


def _take(simple: SimpleCommand, pasted: PastedText) -> Command | None:
    words = list(simple.words)
    while words and words[0] in _WRAPPERS:
        words = words[1:]
    if not words or not _PROGRAMS.match(PurePath(words[0]).name) or len(words) == 1:
        return None
    return Command(tuple(words), environment={**pasted.exports, **simple.assignments})


def _stands_alone(simple: SimpleCommand, pasted: PastedText) -> bool:
    """Say whether nothing but variables in the lines of a command needs a shell."""
    later = [other.line for other in pasted.commands if other.line > simple.line]
    end = min(later, default=1 << 30)
    lines = [what for line, what in pasted.needs_shell if simple.line <= line < end]
    return all(isinstance(what, Text) or _VARIABLE.match(what) for what in lines)


def _quote(word: str) -> str:
    if not _VARIABLE.search(word):
        return shlex.quote(word)
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`") + '"'
