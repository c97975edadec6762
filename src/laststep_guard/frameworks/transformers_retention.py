"""When do older checkpoints go, and which?

Those that the user's own `save_total_limit` lets go of, once the new one has been read back and sealed: laststep
removes them then, outside the training. Where it has not come to that by the next save, they go before it. A failed
save lets go of nothing but what it has left itself. Where there is no room for the next one, the room that the limit
allows for is made before it; the last save of a training waits for some.
"""

import time
from types import ModuleType
from typing import Any, Callable, Optional, Tuple

from laststep_guard.guardian import Guardian, Save
from laststep_guard.guards.failed_writes import read_free_bytes
from laststep_guard.guards.retention import choose_left_over, choose_removals, has_room, list_kept, measure, remove
from laststep_guard.wire import EventKind

_LOOK_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 600.0  # other ranks wait as long, and give up after 1800 s by default


def hook_retention(module: ModuleType, guardian: Guardian) -> None:
    """Let the limit wait for soundness. `module` is `transformers.trainer`."""
    if not guardian.settings.wants_guard("save") or guardian.settings.events_dir is None:
        return
    retention = _Retention(guardian)
    if hasattr(module.Trainer, "_rotate_checkpoints"):  # until transformers 5
        guardian.patches.wrap(module.Trainer, "_rotate_checkpoints", retention.around_method)
    elif hasattr(module, "rotate_checkpoints"):
        guardian.patches.wrap(module, "rotate_checkpoints", retention.around_function)
    else:
        return
    guardian.state.before_save.append(guardian.shield.wrap("make room for a save", retention.before_save))
    guardian.state.after_failed_save.append(guardian.shield.wrap("clear a failed save", retention.after_failed_save))


class _Retention:
    def __init__(self, guardian: Guardian) -> None:
        self._guardian = guardian
        self._due: Optional[Tuple[Optional[int], Optional[str]]] = None  # limit, best checkpoint
        self._retain = guardian.shield.wrap("let go of checkpoints", self._note_due)

    def around_method(self, _original: Callable[..., Any]) -> Callable[..., Any]:
        def _rotate_checkpoints(trainer: Any, use_mtime: Any = None, output_dir: Any = None) -> None:
            del use_mtime
            self._retain(output_dir, trainer.args.save_total_limit, trainer.state.best_model_checkpoint)

        return _rotate_checkpoints

    def around_function(self, _original: Callable[..., Any]) -> Callable[..., Any]:
        def rotate_checkpoints(
            output_dir: Any, save_total_limit: Any = None, best_model_checkpoint: Any = None, **_others: Any
        ) -> None:
            self._retain(output_dir, save_total_limit, best_model_checkpoint)

        return rotate_checkpoints

    def _note_due(self, folder: Any, limit: Optional[int], best: Optional[str]) -> None:
        save = self._guardian.state.save
        if save is None or save.has_failed or limit is None or limit <= 0:
            return
        self._due = limit, best
        going = choose_removals(list_kept(folder), limit, best, is_newest_sound=True)
        if going:
            self._guardian.emit(EventKind.RETENTION_DUE, path=save.path, step=save.step, remove=going)

    def before_save(self, trainer: Any, *, has_last_failed: bool) -> None:
        """Remove what is still due, or make room where there is none. Of a rank that rotates in the trainer."""
        due, self._due = self._due, None
        save = self._guardian.state.save
        if not trainer.args.should_save or save is None:
            return
        folder, limit, best = (
            trainer.args.output_dir,
            trainer.args.save_total_limit,
            trainer.state.best_model_checkpoint,
        )
        kept = list_kept(folder)
        needed = max((measure(one.path) for one in [one for one in kept if one.is_sound][-2:]), default=0)
        if has_last_failed or not has_room(folder, needed):
            remove(choose_removals(kept, limit, best, room_for=1))
        elif due is not None:
            remove(choose_removals(kept, *due))
        if save.step >= trainer.state.max_steps:
            self._wait_for_room(folder, needed, save)

    def _wait_for_room(self, folder: str, needed: int, save: Save) -> None:
        """Wait, for a while, for somebody to make room: what the last save loses is not trained again."""
        waited = 0.0
        while waited < _LONGEST_WAIT_SECONDS and not has_room(folder, needed):
            if not waited:
                self._guardian.emit(
                    EventKind.SAVE_WAITS, path=save.path, step=save.step, needed_bytes=needed,
                    free_bytes=read_free_bytes(folder), seconds=_LONGEST_WAIT_SECONDS,
                )  # fmt: skip
            time.sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS

    def after_failed_save(self, trainer: Any) -> None:
        """Take away what a failed save has left, where there is a limit: the room is needed to seal the one before."""
        if trainer.args.should_save:
            remove(choose_left_over(list_kept(trainer.args.output_dir), trainer.args.save_total_limit))
