"""How does `laststep attach` read its options?"""

import os

import typer

from laststep.cli import options
from laststep.cli.see_through import see_through
from laststep.host.clock import SystemClock
from laststep.journal.layout import find_home
from laststep.supervisor.attach import attach as attach_to
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
    see_through(
        lambda console: attach_to(folder, console=console, clock=SystemClock()),
        language,
        as_json=as_json,
        file=report_file,
    )
