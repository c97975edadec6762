"""Where in transformers' `Trainer` does a training begin, step, save, evaluate and end?

The hooks sit on methods that have kept their names since transformers 4.46: `train`, `training_step`,
`get_batch_samples`, `evaluate`, `_save_checkpoint` and the callback handler's `call_event`. Subclasses (ms-swift, TRL,
LLaMA-Factory) reach them through `super()`.
"""

import os
import sys
import time
from types import ModuleType
from typing import Any, Callable, Dict

from laststep_guard.guardian import Guardian
from laststep_guard.guards.heartbeat import open_heartbeat
from laststep_guard.wire import EventKind, Flag, Phase

# Packages whose versions explain a failure best.
_PACKAGES = ("torch", "transformers", "accelerate", "peft", "swift", "deepspeed", "trl", "datasets")


def hook_trainer(module: ModuleType, guardian: Guardian) -> None:
    """Follow the trainer's life. `module` is `transformers.trainer`."""
    trainer_class = module.Trainer
    if guardian.rank is not None:
        _become_rank(guardian)
    wrap = guardian.patches.wrap
    wrap(trainer_class, "__init__", lambda original: _around_init(original, guardian))
    wrap(trainer_class, "train", lambda original: _around_train(original, guardian))
    wrap(trainer_class, "evaluate", lambda original: _around_evaluate(original, guardian))
    wrap(trainer_class, "predict", lambda original: _around_evaluate(original, guardian))
    wrap(trainer_class, "_save_checkpoint", lambda original: _around_save(original, guardian))
    wrap(trainer_class, "training_step", lambda original: _around_training_step(original, guardian))
    if hasattr(trainer_class, "get_batch_samples"):
        wrap(trainer_class, "get_batch_samples", lambda original: _around_batch_samples(original, guardian))


def hook_callbacks(module: ModuleType, guardian: Guardian) -> None:
    """Follow the steps. `module` is `transformers.trainer_callback`."""
    guardian.patches.wrap(module.CallbackHandler, "call_event", lambda original: _around_event(original, guardian))


def _become_rank(guardian: Guardian) -> None:
    """Open the beat of this rank and say so, once."""
    if guardian.is_rank:
        return
    guardian.is_rank = True
    rank, local_rank, world_size = (int(os.environ.get(name) or default) for name, default in _PLACE)
    guardian.rank = guardian.emitter.rank = rank
    guardian.state.world_size = world_size
    local = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("LOCAL_SIZE")  # as torchrun and deepspeed call it
    guardian.state.local_world_size = int(local or 1)
    with guardian.shield.over("open the beat"):
        folder = guardian.settings.beats_dir if guardian.settings.wants_guard("heartbeat") else None
        guardian.heartbeat = open_heartbeat(folder, rank=rank, local_rank=local_rank, world_size=world_size)
    guardian.emit(
        EventKind.ATTACHED, role="rank", world_size=world_size, local_rank=local_rank, python=sys.version.split()[0],
        versions=_versions(), executable=sys.executable,
    )  # fmt: skip


_PLACE = (("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1"))


def _versions() -> Dict[str, str]:
    found = ((name, getattr(sys.modules.get(name), "__version__", None)) for name in _PACKAGES)
    return {name: str(version) for name, version in found if version is not None}


def _around_init(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        guardian.shield.wrap("become a rank", _become_rank)(guardian)
        original(self, *args, **kwargs)

    return init


def _around_train(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        guardian.state.trainer = self
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            guardian.shield.wrap("note a failure", _note_failure)(guardian, error)
            raise
        finally:
            guardian.state.trainer = None
        guardian.shield.wrap("note the end", _note_end)(guardian, self)
        return result

    return train


def _note_failure(guardian: Guardian, error: BaseException) -> None:
    if guardian.state.is_stopping:
        return  # it was asked to leave
    guardian.emit(EventKind.RANK_FAILED, error=type(error).__name__, message=str(error)[:500], step=guardian.state.step)


def _note_end(guardian: Guardian, trainer: Any) -> None:
    heartbeat = guardian.heartbeat
    heartbeat.step, heartbeat.target_step = trainer.state.global_step, trainer.state.max_steps
    heartbeat.flags |= Flag.TRAIN_ENDED
    heartbeat.enter(Phase.END)
    guardian.emit(
        EventKind.TRAIN_ENDED, step=heartbeat.step, target_step=heartbeat.target_step,
        stopped_early=bool(heartbeat.flags & Flag.STOPPED_EARLY), stopped_by=guardian.state.stopped_by,
    )  # fmt: skip


def _around_evaluate(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def evaluate(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, guardian.state.is_evaluating = guardian.heartbeat.phase, True
        guardian.heartbeat.enter(Phase.EVALUATE)
        try:
            return original(self, *args, **kwargs)
        finally:
            guardian.state.is_evaluating = False
            guardian.heartbeat.enter(before)

    return evaluate


def _around_save(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, guardian.state.is_saving = guardian.heartbeat.phase, True
        guardian.heartbeat.enter(Phase.SAVE)
        began = time.monotonic()
        try:
            result = original(self, *args, **kwargs)
        finally:
            guardian.state.is_saving = False
            guardian.heartbeat.enter(before)
        guardian.shield.wrap("note a checkpoint", _note_checkpoint)(guardian, self, time.monotonic() - began)
        return result

    return save


def _note_checkpoint(guardian: Guardian, trainer: Any, seconds: float) -> None:
    save = guardian.state.save
    if guardian.rank or (save is not None and save.has_failed):
        return  # one rank speaks for the checkpoint they share
    step = trainer.state.global_step
    path = os.path.abspath(os.path.join(trainer.args.output_dir, f"checkpoint-{step}"))
    guardian.emit(EventKind.CHECKPOINT_SAVED, path=path, step=step, seconds=seconds)


def _around_batch_samples(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def get_batch_samples(self: Any, epoch_iterator: Any, num_batches: int, *args: Any, **kwargs: Any) -> Any:
        guardian.heartbeat.enter(Phase.DATA)
        result = original(self, epoch_iterator, num_batches, *args, **kwargs)
        guardian.heartbeat.enter(Phase.STEP)
        guardian.shield.wrap("match rows", _match_rows)(guardian, result, num_batches)
        return result

    return get_batch_samples


def _match_rows(guardian: Guardian, result: Any, num_batches: int) -> None:
    """Remember which rows each micro-batch of this step was made of.

    The loaders report what they hand over, in order. A loader that reads one batch ahead (accelerate's) leaves one
    over; anything more than that was skipped on a resume and never reaches the trainer.
    """
    state = guardian.state
    batches = result[0]
    while len(state.handed_over) > num_batches + 1:
        state.handed_over.popleft()
    state.rows_by_batch = {id(batch): state.handed_over.popleft() for batch in batches if state.handed_over}


def _around_training_step(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    state = guardian.state

    def training_step(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        state.current_rows = state.rows_by_batch.get(id(inputs))
        for prepare in state.before_forward:
            prepare(model)
        try:
            return original(self, model, inputs, *args, **kwargs)
        finally:
            state.micro_step += 1
            guardian.heartbeat.micro_step = state.micro_step
            guardian.heartbeat.beat()

    return training_step


def _around_event(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    def call_event(self: Any, event: str, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        was_stopping = control.should_training_stop
        control = original(self, event, args, state, control, **kwargs)
        note = notes.get(event)
        if note is not None:
            note(self, args, state)
        if control.should_training_stop and not was_stopping and state.global_step < state.max_steps:
            note_stop(self, event)
        return control

    def note_stop(handler: Any, event: str) -> None:
        guardian.heartbeat.flags |= Flag.STOPPED_EARLY
        guardian.state.stopped_by = _stopping_callback(handler) or event
        guardian.heartbeat.beat()

    def note_begin(_handler: Any, args: Any, state: Any) -> None:
        shielded_begin(guardian, args, state)

    def note_step(_handler: Any, _args: Any, state: Any) -> None:
        guardian.state.step = guardian.heartbeat.step = state.global_step
        guardian.state.micro_step = guardian.heartbeat.micro_step = 0
        guardian.heartbeat.enter(Phase.STEP)

    notes = {"on_train_begin": note_begin, "on_step_end": note_step}
    shielded_begin = guardian.shield.wrap("note the begin", _note_begin)
    return call_event


def _stopping_callback(handler: Any) -> Any:
    """Name a callback that is known to stop early, for the report; any other is named by its event."""
    names = [type(callback).__name__ for callback in handler.callbacks]
    return next((name for name in names if "EarlyStop" in name), None)


def _note_begin(guardian: Guardian, args: Any, state: Any) -> None:
    ours, heartbeat = guardian.state, guardian.heartbeat
    ours.accumulation = int(getattr(args, "gradient_accumulation_steps", 1))
    ours.step, ours.target_step = state.global_step, state.max_steps
    heartbeat.step, heartbeat.target_step = state.global_step, state.max_steps
    heartbeat.flags = Flag.TRAINER_SEEN  # a second train() in the same process starts anew
    heartbeat.enter(Phase.DATA)
    guardian.emit(
        EventKind.TRAIN_BEGAN, step=state.global_step, target_step=state.max_steps,
        output_dir=os.path.abspath(args.output_dir), accumulation=ours.accumulation,
        trainer=type(ours.trainer).__name__,
    )  # fmt: skip
    for begin in ours.at_train_begin:
        begin(ours.trainer)
