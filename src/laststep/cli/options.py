"""Which options do several commands share?"""

import difflib
import enum
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from laststep.records.errors import CommandError
from laststep_guard import wire

GUARD_NAMES: Mapping[str, str] = wire.GUARD_NAMES
FIX_NAMES: Mapping[str, str] = wire.FIX_NAMES


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


def check_names(names: Sequence[str], option: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Refuse names that nothing goes by: a misspelt one would leave a guard on in silence."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return tuple(names)
    similar = difflib.get_close_matches(unknown[0], known, n=1)
    hint = f"Did you mean {similar[0]}?" if similar else f"There are: {', '.join(known)}."
    raise CommandError(f"{option} {', '.join(unknown)}: nothing goes by that name. {hint}")
