"""How does a save of transformers' `Trainer` survive a place that cannot be written to?

Each file is forgiven by itself (`file_writes.py`). A rank that has left a save says in its beat how it went; at the end
of the next step every rank has left it, so all of them know whether to try again, and nobody has to ask.
"""

import os
import time
from types import ModuleType
from typing import Any, Callable, List, Optional, Tuple

from laststep_guard.frameworks.file_writes import catching, forgiving, mark_incomplete, note_failed_write
from laststep_guard.guardian import Guardian, Save
from laststep_guard.guards.failed_writes import read_free_bytes, tell_failed_write
from laststep_guard.guards.peers import Peers, is_alive
from laststep_guard.wire import EventKind, Phase

Method = Callable[..., Any]

_LOOK_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 5.0  # for a rank that is in no save; one that is in it is waited for
_CALLBACK_EVENTS = ("on_log", "on_evaluate", "on_save", "on_epoch_end", "on_train_end")


def hook_saves(module: ModuleType, guardian: Guardian) -> None:
    """Let saves fail without ending the training. `module` is `transformers.trainer`."""
    if not guardian.settings.wants_guard("save"):
        return
    keeper = SaveKeeper(guardian)
    trainer, wrap = module.Trainer, guardian.patches.wrap
    wrap(trainer, "_save_checkpoint", keeper.around_save)
    for name, around in (
        ("_save_rng_state", keeper.around_files),
        ("_save_optimizer_and_scheduler", keeper.around_collective_files),
        ("_push_from_checkpoint", keeper.around_push),
        ("_load_best_model", keeper.around_best),
    ):
        if hasattr(trainer, name):
            wrap(trainer, name, around)
    wrap(module.TrainerState, "save_to_json", keeper.around_files)
    guardian.state.at_train_begin.append(guardian.shield.wrap("watch the trainer's files", keeper.begin))
    guardian.state.is_save_due.append(guardian.shield.wrap("settle a save", keeper.settle, otherwise=False))


class SaveKeeper:
    """Follows the saves of one training."""

    def __init__(self, guardian: Guardian) -> None:
        self._guardian = guardian
        self._is_settled = True  # whether all ranks know how the last save went
        self._has_last_failed = False  # on any rank, as far as that is settled
        self._saves_alone = False
        self._best: Tuple[Any, ...] = (None, None, None)
        self._last_path: Optional[str] = None  # of the last save of this rank that went well

    def begin(self, trainer: Any) -> None:
        """Stand around the files that the trainer's own class and its callbacks write."""
        self._guardian.state.save = None
        self._is_settled, self._has_last_failed = True, False
        self._best, self._last_path = _read_best(trainer.state), getattr(trainer.state, "last_model_checkpoint", None)
        # Only the outermost `_save` knows all its files, and no collective is inside.
        self._wrap_once(type(trainer), "_save", self.around_files)
        for callback in trainer.callback_handler.callbacks:
            for name in _CALLBACK_EVENTS:
                self._wrap_once(type(callback), name, self._around_callback)

    def _wrap_once(self, owner: Any, name: str, around: Callable[[Method], Method]) -> None:
        original = getattr(owner, name, None)
        if original is None or getattr(original, "laststep_forgives", False) or _is_empty(original):
            return
        self._guardian.patches.wrap(owner, name, around)
        getattr(owner, name).laststep_forgives = True

    # -- files --------------------------------------------------------------------------------------------------------

    def around_files(self, original: Method) -> Method:
        """For a method that writes files, and waits for no other rank."""
        return forgiving(original, self._guardian, lambda _self, path=None, *_args, **_kwargs: path)

    def around_collective_files(self, original: Method) -> Method:
        """For a method that other ranks wait in: only what torch's distributed checkpoints tell all of them."""
        guardian = self._guardian
        note = guardian.shield.wrap("note a failed write", note_failed_write)

        def tell(error: BaseException) -> Optional[str]:
            return _tell_shared_failure(error) if guardian.state.is_saving else None

        return catching(original, tell, lambda reason, _args, _kwargs: note(guardian, reason, lambda: None))

    def around_push(self, original: Method) -> Method:
        """Hand no checkpoint on that is not whole."""

        def _push_from_checkpoint(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            save = self._guardian.state.save
            return None if save is not None and save.has_failed else original(trainer, *args, **kwargs)

        return _push_from_checkpoint

    def _around_callback(self, original: Method) -> Method:
        note = self._guardian.shield.wrap("note a log", self._note_log)
        return catching(original, tell_failed_write, lambda reason, args, _kwargs: note(type(args[0]).__name__, reason))

    def _note_log(self, where: str, reason: str) -> None:
        self._guardian.emit(EventKind.LOG_NOT_WRITTEN, where=where, reason=reason)

    # -- saves --------------------------------------------------------------------------------------------------------

    def around_save(self, original: Method) -> Method:
        """Follow a save from its begin to its end."""
        begin = self._guardian.shield.wrap("begin a save", self._begin_save)
        end = self._guardian.shield.wrap("end a save", self._end_save)

        def _save_checkpoint(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            begin(trainer)
            result = original(trainer, *args, **kwargs)
            end(trainer)
            return result

        return _save_checkpoint

    def _begin_save(self, trainer: Any) -> None:
        step, state = trainer.state.global_step, self._guardian.state
        path = os.path.abspath(os.path.join(trainer.args.output_dir, f"checkpoint-{step}"))
        is_again = state.save is not None and self._has_last_failed and not state.save.is_again
        state.save = Save(path, step, is_again=is_again)
        for act in state.before_save:
            act(trainer, has_last_failed=self._has_last_failed)

    def _end_save(self, trainer: Any) -> None:
        guardian, save = self._guardian, self._guardian.state.save
        if save is None:
            return
        guardian.heartbeat.last_save = -save.step if save.has_failed else save.step
        guardian.heartbeat.beat()
        self._is_settled = False
        if not save.has_failed:
            self._last_path = save.path
            return
        mark_incomplete(save.path, save.reason)  # the folder may have come after the failure
        if hasattr(trainer.state, "last_model_checkpoint"):  # ms-swift's, for its links and messages
            trainer.state.last_model_checkpoint = self._last_path
        again = not save.is_again and save.step < trainer.state.max_steps and self._is_one_machine()
        guardian.emit(
            EventKind.SAVE_FAILED, path=save.path, step=save.step, file=save.failed_file, reason=save.reason,
            free_bytes=read_free_bytes(save.path), again_at=save.step + 1 if again else None,
        )  # fmt: skip

    def settle(self, trainer: Any) -> bool:
        """Tell, once after each save and the same on every rank, whether it has to be made again."""
        save = self._guardian.state.save
        if self._is_settled or save is None:
            return False
        self._is_settled = True
        self._has_last_failed = self._has_failed_anywhere(save)
        if not self._has_last_failed:
            self._best = _read_best(trainer.state)
            return False
        for act in self._guardian.state.after_failed_save:
            act(trainer)
        if trainer.state.best_model_checkpoint is not None and self._is_path_of(trainer.state, save):
            trainer.state.best_metric, trainer.state.best_model_checkpoint, best_step = self._best
            if best_step is not None:
                trainer.state.best_global_step = best_step
        return self._is_one_machine() and not save.is_again and not self._saves_alone

    def _has_failed_anywhere(self, save: Save) -> bool:
        """Look at how the others have left the save, and wait for one that is still in it."""
        if not self._is_one_machine() or self._guardian.state.world_size == 1 or self._saves_alone:
            return save.has_failed
        peers, waited = Peers(self._guardian.settings.beats_dir, self._guardian.state.world_size), 0.0
        while True:
            beats = peers.read()
            late = [beat for beat in beats if abs(beat.last_save) < save.step]
            if not late:
                return any(beat.last_save == -save.step for beat in beats)
            if not all(is_alive(beat.pid) for beat in late):
                return True  # whatever comes now, it is no save that all have made
            waited += 0 if any(beat.phase is Phase.SAVE for beat in late) else _LOOK_SECONDS
            if waited > _LONGEST_WAIT_SECONDS:
                self._saves_alone = True  # a callback of the user's lets this rank save, and not the others
                return save.has_failed
            time.sleep(_LOOK_SECONDS)

    def _is_one_machine(self) -> bool:
        """Whether all ranks can read the beats of all others, which is the same for all of them."""
        state = self._guardian.state
        sees_all = self._guardian.settings.beats_dir is not None and self._guardian.settings.wants_guard("heartbeat")
        return state.world_size == 1 or (sees_all and state.world_size == state.local_world_size)

    @staticmethod
    def _is_path_of(state: Any, save: Save) -> bool:
        return os.path.abspath(str(state.best_model_checkpoint)) == save.path

    def around_best(self, original: Method) -> Method:
        """Load no best model from a checkpoint that is not whole. All ranks have passed a barrier before."""
        settle = self._guardian.shield.wrap("settle a save", self.settle)

        def _load_best_model(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            settle(trainer)
            return None if trainer.state.best_model_checkpoint is None else original(trainer, *args, **kwargs)

        return _load_best_model


def _read_best(state: Any) -> Tuple[Any, ...]:
    return state.best_metric, state.best_model_checkpoint, getattr(state, "best_global_step", None)


def _tell_shared_failure(error: BaseException) -> Optional[str]:
    """Read torch's CheckpointException, which every rank raises with what each of them met."""
    failures = getattr(error, "failures", None)
    if not isinstance(failures, dict):
        return None
    reasons: List[str] = []
    for failure in failures.values():
        reason = tell_failed_write(failure[0] if isinstance(failure, tuple) else failure)
        if reason is None:
            return None  # one of them met something else, and that has to be heard
        reasons.append(reason)
    return reasons[0] if reasons else None


def _is_empty(method: Any) -> bool:
    """Whether a callback's method is the one that does nothing, as most are."""
    return getattr(method, "__qualname__", "").startswith("TrainerCallback.")
