"""What does a transformers training need, beyond its checkpoint, to go on exactly?

The checkpoint holds weights, optimiser, scheduler and the random states of this process. It lacks the random states of
the loader's workers, what was already built ahead, and what has been summed up for the next log line. Each rank leaves
these beside it (`guards/resume_states.py`) and is set back to them.
"""

import functools
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from laststep_guard.guardian import Guardian
from laststep_guard.guards.resume_states import Resume, read_resume, write_states
from laststep_guard.wire import EventKind

Method = Callable[..., Any]


def hook_states(module: ModuleType, guardian: Guardian) -> None:
    """Leave states at each save and set them back after a resume. `module` is `transformers.trainer`."""
    missing = [name for name in _RELIED_ON if not hasattr(module.Trainer, name)]
    if missing or not guardian.settings.wants_guard("resume"):
        if missing:
            reason = f"this Trainer has no {', '.join(missing)}"
            guardian.emit(EventKind.GUARD_DECLINED, name="resume", reason=reason)
        return
    keeper = _Keeper(guardian)
    for name, around in (
        ("_maybe_log_save_evaluate", keeper.around_log),
        ("_save_checkpoint", keeper.around_save),
        ("_load_optimizer_and_scheduler", keeper.around_load),
        ("_load_rng_state", keeper.around_random_states),
        ("training_step", keeper.around_step),
    ):
        guardian.patches.wrap(module.Trainer, name, around)
    guardian.state.at_train_begin.append(guardian.shield.wrap("read what to go on from", keeper.begin))


_RELIED_ON = (
    "_maybe_log_save_evaluate", "_save_checkpoint", "_load_optimizer_and_scheduler", "_load_rng_state", "training_step",
)  # fmt: skip


class _Keeper:
    """Stands between the trainer and its states."""

    def __init__(self, guardian: Guardian) -> None:
        self._guardian = guardian
        self._summed_loss: Any = None  # the trainer's own tensor; read at a save only
        self._checkpoint: Optional[str] = None  # what the trainer goes on from
        self._load: Optional[Method] = None
        self._is_loaded = False

    def begin(self, trainer: Any) -> None:
        """Read what this rank goes on from, when a training begins that is not at its first step."""
        guardian = self._guardian
        resume = read_resume(
            guardian.settings.resume_states_dir, trainer.state.global_step, guardian.rank or 0,
            guardian.state.world_size,
        )  # fmt: skip
        guardian.state.resume = resume
        guardian.state.evaluations.clear()
        if resume is not None and not resume.are_logs_waiting:
            self._tell(resume)  # nothing was found, and that is the whole of it
        if resume is not None and "ahead" in resume.position and self._checkpoint is not None:
            guardian.state.load_random_states = functools.partial(self._load_now, trainer)

    def _load_now(self, trainer: Any) -> None:
        load, self._is_loaded = self._load, True
        if load is not None:
            load(trainer, self._checkpoint)

    # -- leaving ------------------------------------------------------------------------------------------------------

    def around_log(self, original: Method) -> Method:
        def _maybe_log_save_evaluate(trainer: Any, tr_loss: Any, *args: Any, **kwargs: Any) -> Any:
            self._summed_loss = tr_loss
            return original(trainer, tr_loss, *args, **kwargs)

        return _maybe_log_save_evaluate

    def around_save(self, original: Method) -> Method:
        leave = self._guardian.shield.wrap("leave what a resume needs", self._leave)

        def _save_checkpoint(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            leave(trainer)
            return original(trainer, *args, **kwargs)

        return _save_checkpoint

    def _leave(self, trainer: Any) -> None:
        guardian, step = self._guardian, trainer.state.global_step
        values = {"world_size": guardian.state.world_size, "logs": self._describe_logs(trainer)}
        values["evaluations"] = self._describe_evaluations()
        position = self._describe_position(trainer)
        if position is not None:
            values["position"] = position
        write_states(guardian.settings.states_dir, step, guardian.rank or 0, values)

    def _describe_evaluations(self) -> List[Dict[str, Any]]:
        """Tell where the loaders are that outlive an evaluation, those that wait for their first one included."""
        state = self._guardian.state
        living = [engine() for engine in state.evaluations]
        waiting = state.resume.values.get("evaluations", []) if state.resume is not None else []
        if any(engine is None for engine in living):
            return []
        # Between evaluations everything that was asked for has been built, so no number is too high.
        return [*(engine.describe_position(sys.maxsize) for engine in living), *waiting[len(living) :]]

    def _describe_position(self, trainer: Any) -> Optional[Dict[str, Any]]:
        position, epoch = self._guardian.state.position, trainer.state.epoch
        if position is None:
            return None
        ends_epoch = epoch is not None and float(epoch).is_integer()
        consumed = position.handed - len(self._guardian.state.handed_over)
        described = position.describe(consumed)
        if not ends_epoch:
            return {"epoch": epoch, "consumed": consumed, **described}
        if "at_save" in described:
            return {"epoch": epoch, "consumed": 0, "ahead": [], "at_save": described["at_save"]}
        # The next epoch begins with workers of its own, except those that live on.
        return {"epoch": epoch, "consumed": 0, **described} if described.get("is_persistent") else None

    def _describe_logs(self, trainer: Any) -> Dict[str, Any]:
        return {
            "summed_loss": float(self._summed_loss) if self._summed_loss is not None else 0.0,
            "total_loss": float(getattr(trainer, "_total_loss_scalar", 0.0)),
            "initial_step": int(getattr(trainer, "_initial_global_step", 0)),  # what a final mean leaves out
            "last_logged": int(getattr(trainer, "_globalstep_last_logged", 0)),
            "metrics": {
                name: {"state": metric.state, "count": metric.count}
                for name, metric in _train_metrics(trainer).items()
                if _is_plain(metric)
            },
        }

    # -- going on -----------------------------------------------------------------------------------------------------

    def around_load(self, original: Method) -> Method:
        def _load_optimizer_and_scheduler(trainer: Any, checkpoint: Any, *args: Any, **kwargs: Any) -> Any:
            self._checkpoint, self._is_loaded = checkpoint, False
            return original(trainer, checkpoint, *args, **kwargs)

        return _load_optimizer_and_scheduler

    def around_random_states(self, original: Method) -> Method:
        self._load = original

        def _load_rng_state(trainer: Any, checkpoint: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_loaded:
                self._is_loaded = False  # they were set back before the first batch was built, which drew from them
                return None
            self._guardian.state.load_random_states = None
            return original(trainer, checkpoint, *args, **kwargs)

        return _load_rng_state

    def around_step(self, original: Method) -> Method:
        state = self._guardian.state
        set_back = self._guardian.shield.wrap("set back the logs", self._set_back_logs)

        def training_step(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            loss = original(trainer, *args, **kwargs)
            if state.resume is None or not state.resume.are_logs_waiting:
                return loss
            with_sum = set_back(trainer, state.resume, loss)
            return loss if with_sum is None else with_sum

        return training_step

    def _set_back_logs(self, trainer: Any, resume: Resume, loss: Any) -> Any:
        """Set back what was summed up; gives the loss of this step with the sum that had not been logged yet."""
        resume.are_logs_waiting = False
        logs = resume.values.get("logs") or {}
        trainer._total_loss_scalar = logs["total_loss"]  # noqa: SLF001  # the trainer's own names
        trainer._globalstep_last_logged = logs["last_logged"]  # noqa: SLF001  # as above
        if hasattr(trainer, "_initial_global_step"):
            trainer._initial_global_step = logs["initial_step"]  # noqa: SLF001  # as above
        metrics = _train_metrics(trainer)
        for name, values in logs["metrics"].items():
            vars(metrics[name]).update(values)
        self._tell(resume)
        # The trainer sums in float32, also where a single loss is of fewer bits.
        return loss.float().new_tensor(logs["summed_loss"]) + loss if logs["summed_loss"] else loss

    def _tell(self, resume: Resume) -> None:
        kept = ["the logs", *(["the loader"] if resume.position and not resume.lost else [])] if resume.values else []
        self._guardian.emit(EventKind.STATES_RESTORED, step=resume.step, kept=kept, lost=resume.lost)


def _train_metrics(trainer: Any) -> Any:
    """Give ms-swift's own sums of a training; empty for other trainers."""
    metrics = getattr(trainer, "custom_metrics", None)
    return metrics.get("train", {}) if isinstance(metrics, dict) else {}


def _is_plain(metric: Any) -> bool:
    return all(isinstance(getattr(metric, name, None), (int, float)) for name in ("state", "count"))
