"""Which options do several commands share?"""

import difflib
import enum
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from laststep.records.errors import CommandError
from laststep.records.text import Language, Text, choose_language
from laststep_guard import wire

GUARD_NAMES = wire.GUARD_NAMES
FIX_NAMES = wire.FIX_NAMES

_UNKNOWN_SIMILAR = Text(
    en="{option} {names}: nothing goes by that name. Did you mean {similar}?",
    zh="{option} {names}：没有这个名称。是否想用 {similar}？",
)
_UNKNOWN = Text(
    en="{option} {names}: nothing goes by that name. There are: {known}.",
    zh="{option} {names}：没有这个名称。现有：{known}。",
)


@dataclass(slots=True)
class Voice:
    """The language of messages, where `cli/main.py` finds it when a command ends in an error."""

    language: Language = Language.ENGLISH


class RemedyClass(str, enum.Enum):
    """How far a change may go."""

    IDENTICAL = "identical"
    EQUIVALENT = "equivalent"
    ALTERING = "altering"


class LanguageOption(str, enum.Enum):
    """The languages as they are typed."""

    EN = "en"
    ZH = "zh"


Json = Annotated[bool, typer.Option("--json", help="The last report as JSON, on the last line of stderr.")]
JsonOnStdout = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]
ReportFile = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="Write the last report to a file, as JSON.")
]
Lang = Annotated[LanguageOption | None, typer.Option(help="The language of messages; the locale's by default.")]
Home = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Where runs are kept; $LASTSTEP_HOME or the platform's state folder by default."
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error of laststep's own comes from.")]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id, a unique beginning of it, its folder, or last.")
]


def settle_language(context: typer.Context, asked_for: LanguageOption | None) -> Language:
    """Take the language that was asked for, else that of the locale, and let an error that comes later speak it."""
    language = choose_language(asked_for.value if asked_for else None, os.environ)
    context.ensure_object(Voice).language = language
    return language


def check_names(names: Sequence[str], option: str, known: Sequence[str]) -> tuple[str, ...]:
    """Refuse names that nothing goes by: a misspelt one would leave a guard on in silence."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return tuple(names)
    similar = difflib.get_close_matches(unknown[0], known, n=1)
    names = ", ".join(unknown)
    if similar:
        raise CommandError(_UNKNOWN_SIMILAR.fill(option=option, names=names, similar=similar[0]))
    raise CommandError(_UNKNOWN.fill(option=option, names=names, known=", ".join(known)))
