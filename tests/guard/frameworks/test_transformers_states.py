"""What was summed up for the next log line is set back once, and random states are loaded once, at the right moment."""

import json
import os
from types import SimpleNamespace

import pytest

from laststep_guard import wire
from laststep_guard.emit import Emitter
from laststep_guard.frameworks.transformers_states import hook_states
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


class Loss(float):
    """A number that makes others of its kind, as a tensor does."""

    def float(self):
        return self

    def new_tensor(self, value):
        return Loss(value)


class Trainer:
    """The parts of transformers' trainer that are hooked."""

    def __init__(self, step):
        self.state = SimpleNamespace(global_step=step, epoch=0.5)
        self._total_loss_scalar, self._globalstep_last_logged = 0.0, step
        self.custom_metrics = {"train": {"acc": SimpleNamespace(state=0.0, count=0)}}
        self.loaded = []

    def _maybe_log_save_evaluate(self, tr_loss):
        self._save_checkpoint()

    def _save_checkpoint(self):
        pass

    def _load_optimizer_and_scheduler(self, checkpoint):
        pass

    def _load_rng_state(self, checkpoint):
        self.loaded.append(checkpoint)

    def training_step(self, loss):
        return Loss(loss)


@pytest.fixture
def make_trainer(tmp_path):
    """Make a hooked trainer class of its own, which leaves and finds its states in one folder."""

    def make(step):
        emitter = Emitter(str(tmp_path), 0)
        settings = Settings("test", states_dir=str(tmp_path), resume_states_dir=str(tmp_path))
        guardian = Guardian(settings, emitter, Shield(emitter.emit), 0)
        hooked = type("Trainer", (Trainer,), dict(vars(Trainer)))
        hook_states(SimpleNamespace(Trainer=hooked), guardian)
        return hooked(step), guardian

    return make


def begin(trainer, guardian):
    for act in guardian.state.at_train_begin:
        act(trainer)


def save(make_trainer, position=None):
    """Save at step 3, with a loss of 1.5 summed up since the last log line at step 2."""
    trainer, guardian = make_trainer(3)
    guardian.state.position = position
    trainer._total_loss_scalar, trainer._globalstep_last_logged = 7.25, 2
    trainer.custom_metrics["train"]["acc"] = SimpleNamespace(state=4.0, count=5)
    trainer._maybe_log_save_evaluate(Loss(1.5))


def test_the_sums_of_the_next_log_line_go_on(make_trainer):
    save(make_trainer)
    trainer, guardian = make_trainer(3)
    begin(trainer, guardian)

    losses = [trainer.training_step(0.25), trainer.training_step(0.5)]

    assert losses == [1.75, 0.5]
    assert (trainer._total_loss_scalar, trainer._globalstep_last_logged) == (7.25, 2)
    assert vars(trainer.custom_metrics["train"]["acc"]) == {"state": 4.0, "count": 5}


def test_a_training_that_begins_at_its_first_step_is_left_alone(make_trainer):
    save(make_trainer)
    trainer, guardian = make_trainer(0)
    begin(trainer, guardian)

    assert trainer.training_step(0.25) == 0.25
    assert trainer._total_loss_scalar == 0.0


def test_without_states_the_training_goes_on_as_stock_does(make_trainer, tmp_path):
    save(make_trainer)
    (tmp_path / wire.states_name(3, 0)).unlink()
    trainer, guardian = make_trainer(3)
    begin(trainer, guardian)

    assert trainer.training_step(0.25) == 0.25
    (event,) = [json.loads(line) for line in (tmp_path / wire.events_name(os.getpid())).read_text().splitlines()]
    assert (event["kind"], event["kept"]) == (wire.EventKind.STATES_RESTORED, [])
    assert event["lost"]


def test_random_states_are_loaded_before_the_batch_that_draws_from_them_and_not_again(make_trainer):
    """Only where batches are built in the trainer's own process."""
    save(make_trainer, SimpleNamespace(handed=6, describe=lambda number: {"ahead": []}))
    trainer, guardian = make_trainer(3)
    trainer._load_optimizer_and_scheduler("checkpoint-3")
    begin(trainer, guardian)

    guardian.state.load_random_states()
    trainer._load_rng_state("checkpoint-3")

    assert trainer.loaded == ["checkpoint-3"]
    trainer._load_rng_state("checkpoint-3")
    assert trainer.loaded == ["checkpoint-3"] * 2


def test_a_trainer_that_looks_unlike_any_known_is_declined():
    said = []
    guardian = Guardian(Settings("test"), SimpleNamespace(emit=lambda kind, **_: said.append(kind)), None, 0)

    hook_states(SimpleNamespace(Trainer=object), guardian)

    assert said == [wire.EventKind.GUARD_DECLINED]
