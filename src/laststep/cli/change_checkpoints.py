"""How do `laststep checkpoints seal` and `prune` read their options?"""

from typing import Annotated

import typer

from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.prune import plan_pruning, remove_checkpoints
from laststep.checkpoints.verify import verify_checkpoint
from laststep.cli import options, render_checkpoints
from laststep.cli.checkpoint_paths import CheckpointPaths, are_all_sound, check_all, find_all
from laststep.records.checkpoint import SaveFacts


def seal(
    context: typer.Context,
    paths: CheckpointPaths,
    as_json: options.JsonOnStdout = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Verify checkpoints, and write into each the manifest that tells later whether it changed."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    checked = check_all(
        find_all(paths, language), lambda path, progress: seal_checkpoint(path, SaveFacts(), progress=progress)
    )
    render_checkpoints.show_checked(checked, language, as_json=as_json)
    raise typer.Exit(0 if are_all_sound(checked) else 1)


def prune(
    context: typer.Context,
    paths: CheckpointPaths,
    keep: Annotated[int, typer.Option(min=1, help="How many sound ones stay, over all paths.")],
    yes: Annotated[bool, typer.Option("--yes", help="Remove them; otherwise they are only shown.")] = False,
    as_json: options.JsonOnStdout = False,
    lang: options.Lang = None,
    debug: options.Debug = False,
) -> None:
    """Show which checkpoints would go, and remove them with --yes; the last sound one always stays."""
    del debug  # read by cli/main.py
    language = options.settle_language(context, lang)
    plan = plan_pruning(check_all(find_all(paths, language), verify_checkpoint), keep=keep)
    if yes:
        remove_checkpoints(plan.removed)
    render_checkpoints.show_pruning(plan, language, as_json=as_json, is_done=yes)
