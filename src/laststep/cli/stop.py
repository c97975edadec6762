"""How does `laststep stop` read its options?"""

import os
from typing import Annotated

import typer

from laststep.cli import options, render
from laststep.journal.layout import find_home
from laststep.records.ending import StopManner
from laststep.supervisor.list_runs import find_run
from laststep.supervisor.stop_run import stop_run

EXAMPLES = """\b
Examples:
  laststep stop last
  laststep stop k3f9a --now
"""


def stop(
    context: typer.Context,
    run: options.RunName,
    now: Annotated[bool, typer.Option("--now", help="Do not wait for the ranks; end everything at once.")] = False,
    lang: options.Lang = None,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """End a run: its ranks are asked to stop, and after the grace period nothing of it is left."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    folder = find_run(run, find_home(os.environ, home))
    is_over = stop_run(folder, StopManner.AT_ONCE if now else StopManner.WELL, console=render.StderrConsole(language))
    raise typer.Exit(0 if is_over else 1)
