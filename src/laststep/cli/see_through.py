"""How does a command end that sees a run through?"""

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import typer

from laststep.cli import render
from laststep.records.report import LastReport
from laststep.records.text import Language
from laststep.supervisor.console import Console
from laststep.supervisor.interrupts import Left


def see_through(
    watch: Callable[[Console], LastReport], language: Language, *, as_json: bool, file: Path | None
) -> NoReturn:
    """Watch a run to its end, report on it, and leave with its exit code; or with the signal that let it go on."""
    try:
        report = watch(render.StderrConsole(language))
    except Left as left:
        render.show_left(language)
        raise typer.Exit(128 + left.signal_number) from None
    render.show_report(report, language, as_json=as_json, file=file)
    raise typer.Exit(int(report.judgement.exit_code))
