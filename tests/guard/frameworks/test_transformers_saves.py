"""A save that fails is told, made again at the next step on every rank, and lets go of nothing."""

import errno
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from laststep_guard import wire
from laststep_guard.emit import Emitter
from laststep_guard.frameworks.transformers_retention import hook_retention
from laststep_guard.frameworks.transformers_save_requests import hook_requests
from laststep_guard.frameworks.transformers_saves import hook_saves
from laststep_guard.guardian import Guardian
from laststep_guard.guards.heartbeat import open_heartbeat
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield
from laststep_guard.wire import INCOMPLETE_MARKER, EventKind

FULL = OSError(errno.ENOSPC, "No space left on device")


class TrainerCallback:
    """As transformers': most methods do nothing."""

    def on_log(self):
        pass

    def on_save(self):
        pass


class Logger(TrainerCallback):
    """Writes what is logged, as ms-swift's does."""

    error = None

    def on_log(self):
        if self.error is not None:
            raise self.error
        return "logged"


class TrainerState:
    """The parts of transformers' state that are looked at."""

    def __init__(self, max_steps):
        self.global_step, self.max_steps = 0, max_steps
        self.best_metric = self.best_model_checkpoint = self.best_global_step = None

    def save_to_json(self, path):
        Path(path).write_text("{}")


class CallbackHandler:
    """Calls nobody."""

    def call_event(self, _event, control):
        return control


class Trainer:
    """Writes a checkpoint as transformers' does, except where a file is in `cannot_write`."""

    def __init__(self, output_dir, limit=None, max_steps=30):
        self.args = SimpleNamespace(output_dir=str(output_dir), save_total_limit=limit, should_save=True)
        self.state = self.make_state(max_steps)
        self.callback_handler = SimpleNamespace(callbacks=[type("Logger", (Logger,), {})()])
        self.cannot_write, self.pushed, self.loaded = set(), [], []

    make_state = TrainerState

    def write(self, path, name):
        if name in self.cannot_write:
            raise self.cannot_write_because
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / name).write_text("x" * 1000)

    cannot_write_because = FULL

    def _save(self, path):
        self.write(path, "model.safetensors")

    def _save_rng_state(self, path):
        self.write(path, "rng_state.pth")

    def _save_optimizer_and_scheduler(self, path):
        if "shards" in self.cannot_write:
            raise self.cannot_write_because

    def _save_checkpoint(self):
        path = f"{self.args.output_dir}/checkpoint-{self.state.global_step}"
        self._save(path)
        self._save_optimizer_and_scheduler(path)
        self._save_rng_state(path)
        self.state.save_to_json(f"{path}/trainer_state.json")
        self._push_from_checkpoint(path)
        self._rotate_checkpoints(use_mtime=True, output_dir=self.args.output_dir)

    def _push_from_checkpoint(self, path):
        self.pushed.append(path)

    def _rotate_checkpoints(self, use_mtime=None, output_dir=None):
        raise AssertionError("the trainer's own rotation does not wait")

    def _load_best_model(self):
        self.loaded.append(self.state.best_model_checkpoint)


class Rank:
    """A hooked trainer on one rank."""

    def __init__(self, home, output_dir, rank=0, world_size=1, **options):
        self.events_dir = str(home)
        emitter = Emitter(self.events_dir, rank)
        settings = Settings("test", beats_dir=str(home), events_dir=self.events_dir)
        self.guardian = Guardian(settings, emitter, Shield(emitter.emit), rank)
        self.guardian.heartbeat = open_heartbeat(str(home), rank=rank, local_rank=rank, world_size=world_size)
        self.guardian.state.world_size = self.guardian.state.local_world_size = world_size
        trainer_class, state_class = (
            type("Trainer", (Trainer,), dict(vars(Trainer))),
            type("State", (TrainerState,), {}),
        )
        trainer_class.make_state = state_class
        self.handler = type("CallbackHandler", (CallbackHandler,), dict(vars(CallbackHandler)))
        module = SimpleNamespace(Trainer=trainer_class, TrainerState=state_class)
        for hook in (hook_saves, hook_retention):
            hook(module, self.guardian)
        hook_requests(SimpleNamespace(CallbackHandler=self.handler), self.guardian)
        self.trainer = self.guardian.state.trainer = trainer_class(output_dir, **options)
        for begin in self.guardian.state.at_train_begin:
            begin(self.trainer)

    def save(self, step, cannot_write=()):
        self.trainer.state.global_step, self.trainer.cannot_write = step, set(cannot_write)
        self.guardian.state.is_saving = True  # as transformers.py does it, around this
        self.trainer._save_checkpoint()
        self.guardian.state.is_saving = False

    def ends_step(self, step):
        """End a step; tells whether a save is asked for."""
        self.trainer.state.global_step = step
        control = SimpleNamespace(should_save=False)
        return self.handler().call_event("on_step_end", control).should_save

    def events(self, kind):
        path = Path(self.events_dir) / wire.events_name(os.getpid())
        events = map(json.loads, path.read_text().splitlines() if path.exists() else ())
        return [event for event in events if event["kind"] == kind]


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def make_rank(tmp_path, output):
    home = tmp_path / "home"
    home.mkdir()
    return lambda **options: Rank(home, output, **options)


@pytest.mark.parametrize("file", ["model.safetensors", "rng_state.pth"])
def test_a_save_that_fails_is_marked_told_and_made_again_once(make_rank, output, file):
    rank = make_rank()
    rank.save(3, [file])

    (event,) = rank.events(EventKind.SAVE_FAILED)
    assert (event["step"], event["again_at"], event["reason"]) == (3, 4, os.strerror(errno.ENOSPC))
    assert event["free_bytes"] > 0
    assert (output / "checkpoint-3" / "trainer_state.json").exists()  # the rest was gone through
    assert rank.trainer.pushed == []
    assert rank.ends_step(4)
    rank.save(4, [file])
    assert not rank.ends_step(5)  # then at the usual ones
    rank.save(6, [file])
    assert rank.ends_step(7)
    assert [event["again_at"] for event in rank.events(EventKind.SAVE_FAILED)] == [4, None, 7]


def test_a_mark_stays_where_the_checkpoint_is(make_rank, output):
    rank = make_rank()
    rank.save(3, ["rng_state.pth"])

    assert (output / "checkpoint-3" / INCOMPLETE_MARKER).exists()


def test_a_save_that_goes_well_is_asked_for_by_nobody(make_rank):
    rank = make_rank()
    rank.save(3)

    assert not rank.ends_step(4)
    assert rank.events(EventKind.SAVE_FAILED) == []
    assert len(rank.trainer.pushed) == 1


@pytest.mark.parametrize("failing", [0, 1])
def test_every_rank_makes_again_what_one_could_not_write(make_rank, failing):
    ranks = [make_rank(rank=number, world_size=2) for number in range(2)]
    for number, rank in enumerate(ranks):
        rank.save(3, ["rng_state.pth"] if number == failing else [])

    assert [rank.ends_step(4) for rank in ranks] == [True, True]
    for rank in ranks:
        rank.save(4)
    assert [rank.ends_step(5) for rank in ranks] == [False, False]


def test_a_rank_that_saves_alone_waits_for_nobody_in_vain(make_rank, monkeypatch):
    """A callback on rank 0 that asks for a save, as some scripts have it: the others wait in the next step for it."""
    monkeypatch.setattr("laststep_guard.frameworks.transformers_saves._LONGEST_WAIT_SECONDS", 0.05)
    ranks = [make_rank(rank=number, world_size=2) for number in range(2)]
    ranks[0].save(3, ["rng_state.pth"])

    assert not ranks[0].ends_step(4)
    ranks[0].save(6)
    monkeypatch.setattr("laststep_guard.frameworks.transformers_saves.time", None)
    assert not ranks[0].ends_step(7)  # it waits no more


def test_where_ranks_cannot_see_each_other_none_saves_alone(make_rank):
    """On several machines each would come to an answer of its own."""
    rank = make_rank(rank=0, world_size=2)
    rank.guardian.state.local_world_size = 1
    rank.save(3, ["rng_state.pth"])

    assert not rank.ends_step(4)


def test_an_error_that_is_about_something_else_ends_the_save(make_rank):
    rank = make_rank()
    rank.trainer.cannot_write_because = ValueError("a tensor that shares memory")

    with pytest.raises(ValueError, match="shares memory"):
        rank.save(3, ["model.safetensors"])


class CheckpointException(BaseException):
    """As torch.distributed.checkpoint raises it, on every rank."""

    def __init__(self, failures):
        self.failures = failures


@pytest.mark.parametrize(("failure", "is_forgiven"), [(FULL, True), (ValueError("bad plan"), False)])
def test_what_torchs_distributed_checkpoints_tell_all_ranks_is_forgiven(make_rank, failure, is_forgiven):
    rank = make_rank()
    rank.trainer.cannot_write_because = CheckpointException({1: (failure, None)})

    if is_forgiven:
        rank.save(3, ["shards"])
        assert rank.ends_step(4)
    else:
        with pytest.raises(CheckpointException):
            rank.save(3, ["shards"])


def test_no_best_model_is_loaded_from_a_checkpoint_that_is_not_whole(make_rank, output):
    rank = make_rank(max_steps=6)
    state = rank.trainer.state
    state.best_metric, state.best_model_checkpoint, state.best_global_step = 1.0, str(output / "checkpoint-3"), 3
    rank.save(3)
    rank.ends_step(4)
    state.best_metric, state.best_model_checkpoint, state.best_global_step = 0.5, str(output / "checkpoint-6"), 6
    rank.save(6, ["model.safetensors"])

    rank.trainer._load_best_model()

    assert rank.trainer.loaded == [str(output / "checkpoint-3")]
    assert (state.best_metric, state.best_global_step) == (1.0, 3)


def test_a_log_that_cannot_be_written_does_not_end_the_training(make_rank):
    rank = make_rank()
    logger = rank.trainer.callback_handler.callbacks[0]
    assert logger.on_log() == "logged"
    logger.error = FULL
    assert logger.on_log() is None
    logger.error = ValueError("not a number")
    with pytest.raises(ValueError, match="not a number"):
        logger.on_log()

    (event,) = rank.events(EventKind.LOG_NOT_WRITTEN)
    assert event["where"] == "Logger"


# -- retention --------------------------------------------------------------------------------------------------------


def steps_in(output):
    return sorted(int(path.name.rpartition("-")[2]) for path in output.glob("checkpoint-*"))


def age(output):
    """Let every checkpoint be as old as its step says."""
    for path in output.glob("checkpoint-*"):
        step = int(path.name.rpartition("-")[2])
        os.utime(path, (1e9 + 10 * step, 1e9 + 10 * step))


def test_the_limit_waits_for_the_new_checkpoint_to_be_sealed(make_rank, output):
    """Then laststep removes what is due; where it has not, the trainer does at its next save."""
    rank = make_rank(limit=2)
    for step in (3, 6, 9):
        rank.save(step)
        age(output)

    (event,) = rank.events(EventKind.RETENTION_DUE)
    assert (event["path"], event["remove"]) == (str(output / "checkpoint-9"), [str(output / "checkpoint-3")])
    assert steps_in(output) == [3, 6, 9]

    rank.save(12)
    assert steps_in(output) == [6, 9, 12]


def test_a_failed_save_lets_go_of_nothing_but_itself_and_the_next_one_gets_room(make_rank, output):
    rank = make_rank(limit=2)
    for step in (3, 6):
        rank.save(step)
    age(output)
    rank.save(9, ["model.safetensors"])
    assert steps_in(output) == [3, 6, 9]

    assert rank.ends_step(10)
    assert steps_in(output) == [3, 6]
    rank.save(10)
    assert steps_in(output) == [6, 10]


def test_room_is_made_before_a_save_that_would_find_none(make_rank, output, monkeypatch):
    rank = make_rank(limit=2)
    for step in (3, 6):
        rank.save(step)
    age(output)
    monkeypatch.setattr("laststep_guard.frameworks.transformers_retention.has_room", lambda _folder, _needed: False)
    rank.save(9)

    assert steps_in(output) == [6, 9]


def test_without_a_limit_nothing_goes(make_rank, output):
    rank = make_rank()
    for step in (3, 6, 9):
        rank.save(step, ["model.safetensors"] if step == 6 else [])
        rank.ends_step(step + 1)

    assert steps_in(output) == [3, 6, 9]


def test_the_last_save_waits_for_room_and_says_so(make_rank, output, monkeypatch):
    place = "laststep_guard.frameworks.transformers_retention"
    rank = make_rank(max_steps=6)
    rank.save(3)
    answers = [False, False, False, False, True]  # the first is asked about making room
    slept = []
    monkeypatch.setattr(f"{place}.has_room", lambda _folder, needed: needed > 1000 and answers.pop(0))
    monkeypatch.setattr(f"{place}.time", SimpleNamespace(sleep=slept.append))
    rank.save(6)

    assert len(slept) == 3
    (event,) = rank.events(EventKind.SAVE_WAITS)
    assert event["needed_bytes"] > 1000
    assert steps_in(output) == [3, 6]


def test_the_last_save_does_not_wait_for_ever(make_rank, monkeypatch):
    place = "laststep_guard.frameworks.transformers_retention"
    rank = make_rank(max_steps=6)
    rank.save(3)
    slept = []
    monkeypatch.setattr(f"{place}.has_room", lambda _folder, _needed: False)
    monkeypatch.setattr(f"{place}.time", SimpleNamespace(sleep=slept.append))
    rank.save(6)

    assert sum(slept) == 600
