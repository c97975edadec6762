"""How does `laststep attach` read its options?"""

import os

import typer

from laststep.cli import options, render
from laststep.host.clock import SystemClock
from laststep.journal.layout import find_home
from laststep.supervisor.attach import attach as attach_to
from laststep.supervisor.interrupts import Left
from laststep.supervisor.list_runs import find_run

EXAMPLES = """\b
Examples:
  laststep attach last
  laststep attach k3f9a
"""


def attach(
    context: typer.Context,
    run: options.RunName = "last",
    as_json: options.Json = False,
    report_file: options.ReportFile = None,
    lang: options.Lang = None,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """Show a run that goes on without us, and see it through. Ctrl-C stops the run, Ctrl-\\ leaves it running."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    folder = find_run(run, find_home(os.environ, home))
    try:
        report = attach_to(folder, console=render.StderrConsole(language), clock=SystemClock())
    except Left as left:
        render.show_left(language)
        raise typer.Exit(128 + left.signal_number) from None
    render.show_report(report, language, as_json=as_json, file=report_file)
    raise typer.Exit(int(report.judgement.exit_code))
