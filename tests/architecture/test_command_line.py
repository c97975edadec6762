"""The options people type are a promise: changing one shows up here.

`pytest tests/architecture --update-golden` writes the new promise.
"""

import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "command-line.json"

typer_main = pytest.importorskip("typer.main")
command_line = pytest.importorskip("laststep.cli.main", reason="there is no command line yet")


def options():
    """Every command with its arguments and options; those of a group by both names."""
    root = typer_main.get_command(command_line.make_app())
    return dict(sorted(_list_options(root, "")))


def _list_options(command, name):
    for inner, below in getattr(command, "commands", {}).items():
        yield from _list_options(below, f"{name} {inner}".strip())
    if not hasattr(command, "commands"):
        yield name, sorted(" ".join([*parameter.opts, *parameter.secondary_opts]) for parameter in command.params)


def test_the_options_are_those_promised(update_golden):
    now = options()
    if update_golden:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(now, indent=2) + "\n")
    assert now == json.loads(GOLDEN.read_text())
