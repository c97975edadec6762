"""How does a script that has no flag for it go on from a checkpoint?

Its call of `Trainer.train` is given the checkpoint, as it would give it itself. Only where the trainer writes to the
folder that the checkpoint lies in, since a script can train several models, and only where the script itself does not
name another checkpoint.
"""

import os
from types import ModuleType
from typing import Any, Callable, Optional

from laststep_guard.guardian import Guardian
from laststep_guard.wire import EventKind


def hook_resume(module: ModuleType, guardian: Guardian) -> None:
    """Let `Trainer.train` go on from the checkpoint that laststep chose. `module` is `transformers.trainer`."""
    checkpoint = guardian.settings.resume_from
    if checkpoint is not None:
        guardian.patches.wrap(module.Trainer, "train", lambda original: _resuming(original, guardian, checkpoint))


def _resuming(original: Callable[..., Any], guardian: Guardian, checkpoint: str) -> Callable[..., Any]:
    choose = guardian.shield.wrap("choose a checkpoint", _choose, otherwise=None)

    def train(self: Any, resume_from_checkpoint: Any = None, *args: Any, **kwargs: Any) -> Any:
        chosen = choose(guardian, self, checkpoint, resume_from_checkpoint)
        return original(self, resume_from_checkpoint if chosen is None else chosen, *args, **kwargs)

    return train


def _choose(guardian: Guardian, trainer: Any, checkpoint: str, asked_for: Any) -> Optional[str]:
    # True asks for whatever looks newest; a path is the script's own decision.
    if asked_for not in (None, False, True) or not _lies_in(checkpoint, trainer.args.output_dir):
        return None
    guardian.emit(EventKind.RESUME_GIVEN, path=checkpoint, asked_for=asked_for)
    return checkpoint


def _lies_in(checkpoint: str, folder: str) -> bool:
    return os.path.realpath(os.path.dirname(checkpoint)) == os.path.realpath(folder)
