"""What does the user see when they type `laststep`?"""

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated, Any

import typer

from laststep.cli import options, render
from laststep.launch.secure_streams import secure_standard_streams
from laststep.records.errors import CommandError, LaststepError
from laststep.records.text import Text, choose_language

# typer brings a click of its own in newer versions, so that click's own class would catch nothing.
_UsageError: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
_FAILED = Text(
    en="laststep itself failed: {failure}. --debug shows where; a training it started goes on.",
    zh="laststep 自身出错：{failure}。--debug 可显示出错位置；已启动的训练会继续运行。",
)
_NEEDS_LINUX = Text(
    en="laststep {name} needs Linux. On this system there are diagnose, explain and checkpoints.",
    zh="laststep {name} 需要 Linux。在本系统上可用 diagnose、explain 和 checkpoints。",
)
_OF_UNIX = ("fcntl", "pty", "pwd", "resource", "termios", "tty")  # modules of Python's that other systems lack
_ANY = {"ignore_unknown_options": True, "allow_extra_args": True}
_OPTIONS = {"allow_interspersed_args": False}

# Each is a module of this package. Only the one that is typed is imported: a diagnosis needs nothing of a launch.
_COMMANDS = ("run", "check", "resume", "attach", "save", "stop", "diagnose", "explain", "runs", "demo", "checkpoints")


def make_app(names: Sequence[str] = _COMMANDS) -> typer.Typer:
    """Make the command line, of all commands or of some."""
    app = typer.Typer(name="laststep", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.callback()(choose)
    for name in names:
        try:
            module = importlib.import_module(f"laststep.cli.{name}")
        except ModuleNotFoundError as error:
            if error.name not in _OF_UNIX:
                raise
            app.command(name=name, help=_NEEDS_LINUX.en.format(name=name), context_settings=_ANY)(_refuse(name))
            continue
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
            continue
        # Options end where the command begins, so that the command's own options stay its own.
        settings: dict[str, Any] = (
            {"context_settings": _OPTIONS, "no_args_is_help": False} if name in ("run", "check") else {}
        )
        app.command(name=name, epilog=getattr(module, "EXAMPLES", None), **settings)(getattr(module, name))
    return app


def _refuse(name: str) -> Callable[[], None]:
    """Make the command that stands in for one which this machine cannot do."""

    def refuse() -> None:
        raise CommandError(_NEEDS_LINUX.fill(name=name))

    return refuse


def _show_version(wanted: bool) -> None:  # typer's signature
    if wanted:
        render.show_version(metadata.version("laststep"))
        raise typer.Exit


def choose(
    version: Annotated[  # its callback does it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version, and end.")
    ] = False,
) -> None:
    """Put it in front of a training command, and the run reaches its last step: laststep run -- swift sft …"""


def main() -> None:
    """Run laststep and leave with its exit code."""
    secure_standard_streams()
    sys.exit(_run_app())


def _run_app() -> int:
    voice = options.Voice(choose_language(None, os.environ))  # until a command has read its --lang
    try:
        typed = tuple(word for word in sys.argv[1:2] if word in _COMMANDS)
        app = make_app(typed or _COMMANDS)
        result = typer.main.get_command(app).main(prog_name="laststep", standalone_mode=False, obj=voice)
    except _UsageError as error:
        error.show()
        return int(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except LaststepError as error:
        render.StderrConsole(voice.language).say(error.text)
        return error.exit_code
    except Exception as error:  # noqa: BLE001  # the one place where users get a message instead of a traceback
        if "--debug" in sys.argv:
            traceback.print_exc()
        failure = f"{type(error).__name__}: {error}"
        render.StderrConsole(voice.language).say(_FAILED.fill(failure=failure))
        return 1
    return result if isinstance(result, int) else 0
