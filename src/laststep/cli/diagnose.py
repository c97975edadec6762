"""How does `laststep diagnose` read its options?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from laststep.cli import options, render, render_diagnosis
from laststep.diagnosis.diagnose import diagnose as diagnose_log
from laststep.diagnosis.diagnose import list_batch, read_command
from laststep.records.verdict import Diagnosis
from laststep.supervisor.correct_commands import correct_commands
from laststep.supervisor.diagnose_path import diagnose_path, find_path

EXAMPLES = """\b
Examples:
  laststep diagnose nohup.out
  laststep diagnose last
  laststep diagnose output/v0-20260101-120000
  laststep diagnose --command-file train.sh train.log
  journalctl -u train | laststep diagnose -
  laststep diagnose --json --batch logs/
"""


def diagnose(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="A log, a run or output folder, a .tar.gz of one, a run's id, or - for standard input.",
        ),
    ],
    command_file: Annotated[
        Path | None, typer.Option("--command-file", metavar="FILE", help="The command that was run, as a text file.")
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="PATH is a folder of logs, each NAME.log.")] = False,
    as_json: options.Json = False,
    home: options.Home = None,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Say from a log what happened, where and why, and what to do about it."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    command = read_command(command_file) if command_file is not None else ""
    for path in paths:
        for seen in _diagnose(find_path(path, home), command, is_batch=batch):
            render_diagnosis.show(seen, language, as_json=as_json)


def _diagnose(path: str, command: str, *, is_batch: bool) -> Iterator[Diagnosis]:
    if is_batch:
        yield from (diagnose_path(log, command=beside) for log, beside in list_batch(Path(path)))
    elif path == "-":
        yield correct_commands(diagnose_log(sys.stdin.buffer, source="-", command=command))
    else:
        yield _read_path(Path(path), command)


def _read_path(path: Path, command: str) -> Diagnosis:
    progress = render.Progress(1)
    progress.begin(path.name)
    try:
        return diagnose_path(path, command=command, tick=progress.tick)
    finally:
        progress.end()
