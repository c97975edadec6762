"""How does `laststep runs` read its options?"""

import itertools
import os
from typing import Annotated

import typer

from laststep.cli import options, render
from laststep.journal.layout import find_home
from laststep.supervisor.list_runs import list_runs


def runs(
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """List runs and how they are."""
    del debug  # read by cli/main.py
    render.show_runs(list(itertools.islice(list_runs(find_home(os.environ, home)), limit)), as_json=as_json)
