"""How does `laststep explain` read its options?"""

from typing import Annotated

import typer

from laststep.cli import options, render, render_diagnosis
from laststep.failures.catalog import load_failures
from laststep.records.errors import InputError
from laststep.records.text import Text

EXAMPLES = """\b
Examples:
  laststep explain host-memory.worker-oom-killed
  laststep explain --list
"""
_NOT_KNOWN = Text(
    en="no cause is named {name}; laststep explain --list names them all",
    zh="没有名为 {name} 的原因；laststep explain --list 列出全部",
)


def _complete(typed: str) -> list[str]:
    return [name for name in load_failures() if name.startswith(typed)]


def explain(
    context: typer.Context,
    cause: Annotated[
        str, typer.Argument(metavar="CAUSE", help="As `laststep diagnose` names it.", autocompletion=_complete)
    ] = "",
    list_all: Annotated[bool, typer.Option("--list", help="Name every cause that is known.")] = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Print what is known of a cause: what it means, how it shows, and what to do about it."""
    del debug  # read by cli/main.py
    language, failures = options.settle_language(context, lang), load_failures()
    if list_all or not cause:
        render.show_lines(lambda _: [f"{name:<42} {failure.title.say(language)}" for name, failure in failures.items()])
    elif cause in failures:
        render.show_lines(lambda _: list(render_diagnosis.write_page(failures[cause], language)))
    else:
        raise InputError(_NOT_KNOWN.fill(name=cause))
