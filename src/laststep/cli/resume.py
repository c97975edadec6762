"""How does `laststep resume` read its options?"""

import os
from typing import Annotated

import typer

from laststep.cli import options
from laststep.cli.see_through import see_through
from laststep.host.clock import SystemClock
from laststep.journal.layout import find_home
from laststep.supervisor.resume_request import read_resume_request
from laststep.supervisor.supervise import supervise

EXAMPLES = """\b
Examples:
  laststep resume last
  laststep resume k3f9a
  laststep resume output/v0-20260101-120000
"""


def resume(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN|OUTPUT_DIR", help="A run, or the folder it wrote its checkpoints to.")
    ] = "last",
    as_json: options.Json = False,
    report_file: options.ReportFile = None,
    lang: options.Lang = None,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """Go on with a run that was broken off, from its newest sound checkpoint, in its own folder."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    request = read_resume_request(run, find_home(os.environ, home), os.environ)
    see_through(
        lambda console: supervise(request, console=console, clock=SystemClock()),
        language,
        as_json=as_json,
        file=report_file,
    )
