"""How do `laststep checkpoints ls` and `verify` read their options?"""

from typing import Annotated

import typer

from laststep.checkpoints.verify import verify_checkpoint
from laststep.cli import options, render_checkpoints
from laststep.cli.checkpoint_paths import CheckpointPaths, are_all_sound, check_all, find_all


def ls(
    context: typer.Context,
    paths: CheckpointPaths,
    limit: Annotated[int, typer.Option(min=1, help="How many are looked at, newest first.")] = 20,
    as_json: options.JsonOnStdout = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """List checkpoints, newest first, and whether a run can be resumed from them."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    found = find_all(paths, language, may_be_none=True)
    checked = check_all(found[:limit], verify_checkpoint)
    render_checkpoints.show_checked(checked, language, as_json=as_json, further=len(found) - len(checked))


def verify(
    context: typer.Context,
    paths: CheckpointPaths,
    deep: Annotated[bool, typer.Option("--deep", help="Read every number: NaN and infinite ones are found.")] = False,
    as_json: options.JsonOnStdout = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Read checkpoints and name what is wrong with them; exit code 1 unless all are sound."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    checked = check_all(
        find_all(paths, language), lambda path, progress: verify_checkpoint(path, is_deep=deep, progress=progress)
    )
    render_checkpoints.show_checked(checked, language, as_json=as_json)
    raise typer.Exit(0 if are_all_sound(checked) else 1)
