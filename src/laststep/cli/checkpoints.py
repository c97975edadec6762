"""How does `laststep checkpoints` read its options?"""

from pathlib import Path
from typing import Annotated

import typer

from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.prune import plan_pruning, remove_checkpoints
from laststep.checkpoints.verify import verify_checkpoint
from laststep.cli import checkpoint_words, options, render_checkpoints
from laststep.cli.checkpoint_paths import are_all_sound, check_all, find_all
from laststep.records.checkpoint import SaveFacts

Paths = Annotated[list[Path], typer.Argument(metavar="PATH…", help="Output folders, or checkpoints.")]
Json = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]
Deep = Annotated[bool, typer.Option("--deep", help="Read every number: NaN and infinite ones are found.")]
Limit = Annotated[int, typer.Option(min=1, help="How many are looked at, newest first.")]
app = typer.Typer(help="List, verify, seal and prune checkpoints.", no_args_is_help=True, rich_markup_mode=None)


@app.command(epilog=checkpoint_words.LS_EXAMPLES)
def ls(
    context: typer.Context, paths: Paths, limit: Limit = 20, as_json: Json = False, lang: options.Lang = None
) -> None:
    """List checkpoints, newest first, and whether a run can be resumed from them."""
    language = options.settle_language(context, lang)
    checked = check_all(find_all(paths, language, may_be_none=True)[:limit], verify_checkpoint)
    render_checkpoints.show_checked(checked, language, as_json=as_json)


@app.command(epilog=checkpoint_words.VERIFY_EXAMPLES)
def verify(
    context: typer.Context, paths: Paths, deep: Deep = False, as_json: Json = False, lang: options.Lang = None
) -> None:
    """Read checkpoints and name what is wrong with them; exit code 1 unless all are sound."""
    language = options.settle_language(context, lang)
    checked = check_all(
        find_all(paths, language), lambda path, progress: verify_checkpoint(path, is_deep=deep, progress=progress)
    )
    render_checkpoints.show_checked(checked, language, as_json=as_json)
    raise typer.Exit(0 if are_all_sound(checked) else 1)


@app.command(epilog=checkpoint_words.SEAL_EXAMPLES)
def seal(context: typer.Context, paths: Paths, as_json: Json = False, lang: options.Lang = None) -> None:
    """Verify checkpoints, and write the manifest that tells later whether they changed."""
    language = options.settle_language(context, lang)
    checked = check_all(
        find_all(paths, language), lambda path, progress: seal_checkpoint(path, SaveFacts(), progress=progress)
    )
    render_checkpoints.show_checked(checked, language, as_json=as_json)
    raise typer.Exit(0 if are_all_sound(checked) else 1)


@app.command(epilog=checkpoint_words.PRUNE_EXAMPLES)
def prune(
    context: typer.Context,
    paths: Paths,
    keep: Annotated[int, typer.Option(min=1, help="How many sound ones stay, of each path.")],
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; otherwise they are only shown.")] = False,
    as_json: Json = False,
    lang: options.Lang = None,
) -> None:
    """Show which checkpoints would go, and remove them with --yes; the last sound one always stays."""
    language = options.settle_language(context, lang)
    for path in paths:
        plan = plan_pruning(check_all(find_all([path], language), verify_checkpoint), keep=keep)
        if yes:
            remove_checkpoints(plan.removed)
        render_checkpoints.show_pruning(plan, language, as_json=as_json, is_done=yes)
