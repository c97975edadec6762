"""How does `laststep run` read its options?"""

import os
from pathlib import Path
from typing import Annotated

import typer

from laststep.cli import options, render
from laststep.cli.see_through import see_through
from laststep.host.clock import SystemClock
from laststep.journal.layout import find_home
from laststep.planning.read_command import read_command
from laststep.records.errors import CommandError
from laststep.records.request import RunRequest
from laststep.records.text import Text
from laststep.supervisor.supervise import supervise

_NO_COMMAND = Text(
    en="There is no command to run. Put it behind two dashes: laststep run -- swift sft --model … --dataset …",
    zh="没有要运行的命令。请写在两个连字符之后：laststep run -- swift sft --model … --dataset …",
)
EXAMPLES = """\b
Examples:
  laststep run -- swift sft --model Qwen/Qwen3-VL-Reranker-2B --dataset data.json
  laststep run train.sh
  laststep run --grace 120 -- torchrun --nproc_per_node 4 train.py
"""


def run(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The training command, a script, or a text file it was pasted into."),
    ] = None,
    no_guard: Annotated[
        list[str] | None, typer.Option("--no-guard", metavar="NAME", help="Leave a guard out; see --list-guards.")
    ] = None,
    no_fix: Annotated[
        list[str] | None, typer.Option("--no-fix", metavar="NAME", help="Leave the fix for a known defect out.")
    ] = None,
    allow: Annotated[
        options.RemedyClass, typer.Option(help="The strongest class of change applied without asking.")
    ] = options.RemedyClass.EQUIVALENT,
    exact: Annotated[
        bool, typer.Option("--exact", help="Only changes that keep results bit for bit; as --allow identical.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin at step 0, also where this command was broken off before.")
    ] = False,
    list_guards: Annotated[bool, typer.Option("--list-guards", help="Name the guards and fixes, and end.")] = False,
    as_json: options.Json = False,
    report_file: options.ReportFile = None,
    grace: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long ranks may take to stop when asked.")
    ] = 30.0,
    lang: options.Lang = None,
    home: options.Home = None,
    debug: options.Debug = False,
) -> None:
    """Run a training command, guarded, and see it through."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    if list_guards:
        render.show_guards(language)
        return
    if not words:
        raise CommandError(_NO_COMMAND)
    command = read_command(words, cwd=Path.cwd())
    request = RunRequest(
        command=command,
        cwd=Path.cwd(),
        home=find_home(os.environ, home),
        environment={**os.environ, **command.environment},
        guards_off=options.check_names(no_guard or [], "--no-guard", options.GUARD_NAMES),
        fixes_off=options.check_names(no_fix or [], "--no-fix", options.FIX_NAMES),
        allow="identical" if exact else allow.value,
        grace_seconds=grace,
        is_fresh=fresh,
    )
    see_through(
        lambda console: supervise(request, console=console, clock=SystemClock()),
        language,
        as_json=as_json,
        file=report_file,
    )
