"""How does `laststep save` read its options?"""

import os
from typing import Annotated

import typer

from laststep.cli import options, render
from laststep.host.clock import SystemClock
from laststep.journal.layout import find_home
from laststep.supervisor.list_runs import find_run
from laststep.supervisor.save_run import save_run

EXAMPLES = """\b
Examples:
  laststep save last
  laststep save k3f9a --within 60
"""


def save(
    context: typer.Context,
    run: options.RunName,
    within: Annotated[float, typer.Option("--within", metavar="SECONDS", help="How long to wait for it.")] = 600.0,
    lang: options.Lang = None,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """Let all ranks of a run save at the end of a step, and go on."""
    del debug  # read by cli/main.py
    console = render.StderrConsole(options.settle_language(context, lang))
    folder = find_run(run, find_home(os.environ, home))
    has_saved = save_run(folder, within_seconds=within, console=console, clock=SystemClock())
    raise typer.Exit(0 if has_saved else 1)
