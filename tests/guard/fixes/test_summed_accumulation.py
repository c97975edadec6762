"""Does a step's loss come out as the mean over its micro-batches, when that was asked for?"""

from types import SimpleNamespace

import pytest

from laststep_guard import patches, wire
from laststep_guard.emit import Emitter
from laststep_guard.fixes import swift_summed_accumulation
from laststep_guard.fixes.fix import Declined
from laststep_guard.fixes.swift_functions import COMPUTE_LOSS
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


class EventList(Emitter):
    def __init__(self):
        super().__init__(None, None)
        self.events = []

    def emit(self, kind, **fields):
        self.events.append((kind, fields))


def make_guardian(rank=None):
    emitter = EventList()
    return Guardian(Settings("test"), emitter, Shield(emitter.emit), rank)


@pytest.fixture
def module(monkeypatch):
    """A module whose trainer follows the rules of the real ones."""

    class RerankerTrainer:
        model_accepts_loss_kwargs = False
        is_deepspeed_enabled = False
        compute_loss_func = "a loss function"
        current_gradient_accumulation_steps = 4

        def __init__(self):
            self.args = SimpleNamespace(gradient_accumulation_steps=4)
            self.accelerator = SimpleNamespace(gradient_accumulation_steps=1)

        def compute_loss(self, _model, inputs, return_outputs=False):  # noqa: FBT002  # transformers' signature
            return (inputs, "outputs") if return_outputs else inputs

        def training_step(self):
            return self.compute_loss_func, {"scale_wrt_gas": False}

    monkeypatch.setitem(COMPUTE_LOSS.known, patches.fingerprint(RerankerTrainer.compute_loss), "fake")
    return SimpleNamespace(RerankerTrainer=RerankerTrainer)


IN_TRAINING = SimpleNamespace(training=True)
IN_EVALUATION = SimpleNamespace(training=False)


def test_a_training_loss_is_divided_by_the_micro_batches_of_its_step(module):
    """The last step of an epoch can have fewer than were asked for."""
    swift_summed_accumulation.apply(module, make_guardian())
    trainer = module.RerankerTrainer()

    whole = trainer.compute_loss(IN_TRAINING, 12.0)
    trainer.current_gradient_accumulation_steps = 3
    last = trainer.compute_loss(IN_TRAINING, 12.0, return_outputs=True)

    assert whole == 3.0
    assert last == (4.0, "outputs")


@pytest.mark.parametrize(
    "divided_elsewhere",
    [
        {"model_accepts_loss_kwargs": True},  # ms-swift divides
        {"compute_loss_func": None},  # transformers divides
        {"loss_is_scaled_for_ga": False},  # transformers 5 is told to divide
        {"accelerator": SimpleNamespace(gradient_accumulation_steps=4)},  # accelerate divides
    ],
)
def test_a_loss_that_somebody_divides_is_left_alone_and_not_reported(module, divided_elsewhere):
    guardian = make_guardian()
    swift_summed_accumulation.notice(module, guardian)
    swift_summed_accumulation.apply(module, guardian)
    trainer = module.RerankerTrainer()
    vars(trainer).update(divided_elsewhere)

    guardian.state.at_train_begin[0](trainer)

    assert trainer.compute_loss(IN_TRAINING, 12.0) == 12.0
    assert guardian.emitter.events == []


def test_deepspeed_does_not_divide_although_accelerate_knows_its_accumulation(module):
    swift_summed_accumulation.apply(module, make_guardian())
    trainer = module.RerankerTrainer()
    trainer.is_deepspeed_enabled = True
    trainer.accelerator.gradient_accumulation_steps = 4

    assert trainer.compute_loss(IN_TRAINING, 12.0) == 3.0


def test_an_evaluation_loss_is_left_alone(module):
    swift_summed_accumulation.apply(module, make_guardian())

    assert module.RerankerTrainer().compute_loss(IN_EVALUATION, 12.0) == 12.0


@pytest.mark.parametrize("fixed", [False, True])
def test_a_summed_loss_is_reported_once_with_its_factor(module, fixed):
    guardian = make_guardian(rank=0)
    swift_summed_accumulation.notice(module, guardian)
    if fixed:
        swift_summed_accumulation.apply(module, guardian)

    guardian.state.at_train_begin[0](module.RerankerTrainer())

    assert guardian.emitter.events == [(wire.EventKind.LOSS_SUMMED, {"factor": 4, "fixed": fixed})]


def test_one_micro_batch_a_step_and_other_ranks_report_nothing(module):
    guardian, other_rank = make_guardian(rank=0), make_guardian(rank=1)
    single = module.RerankerTrainer()
    single.args.gradient_accumulation_steps = 1
    swift_summed_accumulation.notice(module, guardian)
    swift_summed_accumulation.notice(module, other_rank)

    guardian.state.at_train_begin[0](single)
    other_rank.state.at_train_begin[0](module.RerankerTrainer())

    assert guardian.emitter.events == other_rank.emitter.events == []


def test_a_transformers_without_the_rule_is_declined(module):
    """Older ones divide elsewhere; dividing once more would be our defect."""
    module.RerankerTrainer.training_step = lambda self: self

    with pytest.raises(Declined, match="does not leave the division to the loss function"):
        swift_summed_accumulation.apply(module, make_guardian())


def test_an_unknown_compute_loss_is_declined(module):
    module.RerankerTrainer.compute_loss = lambda *inputs: inputs

    with pytest.raises(Declined, match=r"RerankerTrainer\.compute_loss has a body that is not known"):
        swift_summed_accumulation.notice(module, make_guardian())


@pytest.mark.slow
def test_the_real_trainer_sums_and_with_the_fix_averages(drive):
    """7 rows make one step of 4 micro-batches and one of 3."""
    result = drive("compare_accumulation.py", 4)

    for run, divisors, fixed in ((result["stock"], (1, 1), False), (result["fixed"], (4, 3), True)):
        losses = run["micro_batches"]
        sums = (sum(losses[:4]), sum(losses[4:]))
        expected = [total / divisor for total, divisor in zip(sums, divisors, strict=True)]
        assert [loss for loss, _ in run["logged"]] == pytest.approx(expected, abs=1e-3)  # 4.6.0 logs 4 digits
        assert run["events"] == [{"kind": wire.EventKind.LOSS_SUMMED, "factor": 4, "fixed": fixed}]
    norms = [[norm for _, norm in result[name]["logged"]] for name in ("stock", "fixed")]
    assert norms[0] == pytest.approx([4 * norms[1][0], 3 * norms[1][1]], rel=1e-3)
