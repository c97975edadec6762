"""How does `laststep demo` read its options?"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from platformdirs import user_cache_path

from laststep.cli import options, render
from laststep.host.clock import SystemClock


def demo(
    context: typer.Context,
    python: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The Python with ms-swift; that of `swift` on PATH by default.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep both runs in this folder to look at.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Run the reported training in small while its workers are killed, and compare it with an undisturbed run."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    # Imported here: `laststep run` starts sooner and stays smaller without the demonstration.
    from laststep.cli.render_demo import list_demonstration_values, write_demonstration_lines  # noqa: PLC0415  # as said
    from laststep.demo.demonstrate import demonstrate  # noqa: PLC0415  # as said
    from laststep.demo.find_training import find_training_python  # noqa: PLC0415  # as said

    training_python = find_training_python(python, search_path=os.environ.get("PATH", ""), cwd=Path.cwd())
    cache = user_cache_path("laststep", appauthor=False) / "demo"
    work = keep or Path(tempfile.mkdtemp(prefix="laststep-demo-"))
    try:
        say = render.StderrConsole(language).say
        shown = demonstrate(
            training_python, cache=cache, work=work.absolute(), clock=SystemClock(), say=say, language=language
        )
    finally:
        if keep is None:
            shutil.rmtree(work, ignore_errors=True)
    if as_json:
        render.show_values(list_demonstration_values(shown, language))
    else:
        render.show_lines(lambda is_colourful: write_demonstration_lines(shown, language, is_colourful=is_colourful))
    raise typer.Exit(0 if shown.is_proven else 1)
