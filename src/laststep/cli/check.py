"""How does `laststep check` read its options?"""

import os
from pathlib import Path
from typing import Annotated

import typer

from laststep.cli import options, render_check
from laststep.host.this_machine import ThisMachine
from laststep.host.training_python import TrainingPython, find_python
from laststep.journal.layout import answers_folder, find_home
from laststep.planning.read_command import read_command
from laststep.records.errors import CommandError
from laststep.records.outcome import ExitCode
from laststep.records.text import Text
from laststep.supervisor.check_command import check_command

_NO_COMMAND = Text(
    en="There is no command to check. Put it behind two dashes: laststep check -- swift sft --model … --dataset …",
    zh="没有要检查的命令。请写在两个连字符之后：laststep check -- swift sft --model … --dataset …",
)
EXAMPLES = """\b
Examples:
  laststep check -- swift sft --model Qwen/Qwen3-VL-Reranker-2B --dataset data.json --output_dir output
  laststep check train.sh
  laststep check --fix -- swift sft --train_type lora --model m --dataset data.json
  laststep check --json -- torchrun --nproc_per_node 4 train.py
"""


def check(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The training command, a script, or a text file it was pasted into."),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Show each change to make, with its reason.")] = False,
    as_json: options.JsonOnStdout = False,
    home: options.Home = None,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> int:
    """Say what will break before anything is started; ends with 3 where something will."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    if not words:
        raise CommandError(_NO_COMMAND)
    command, cwd = read_command(words, cwd=Path.cwd()), Path.cwd()
    variables = {**os.environ, **command.environment}
    python = find_python(command.argv[0], variables, cwd)
    environment = TrainingPython(python=python, environment=variables, cwd=cwd) if python is not None else None
    checked = check_command(
        command, ThisMachine(), environment, cwd=cwd, answers=answers_folder(find_home(os.environ, home))
    )
    render_check.show(checked, language, as_json=as_json, with_changes=fix)
    return ExitCode.BLOCKED if checked.is_blocked else ExitCode.FINISHED
