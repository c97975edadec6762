"""A resume is exact when steps that were made twice agree, and says what is different when they do not."""

import json

import pytest

from laststep.journal.layout import RunFolder
from laststep.journal.writer import Journal, make_attempt_folder
from laststep.records.event import OwnEventKind
from laststep.records.resume import Exactness
from laststep.supervisor.judge_resume import judge_resumes
from laststep_guard import wire
from laststep_guard.emit import Emitter


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "20260101-000000_m_abcde")


def add_attempt(run, number, steps, *, resumed_from=None, world_size=1, lost=()):
    place = make_attempt_folder(run, number)
    lines = [json.dumps({"step": step, "rows": rows, "loss": loss}) for step, rows, loss in steps]
    (place.fingerprints / wire.fingerprints_name(0)).write_text("\n".join(lines) + '\n{"step": 9')
    emitter = Emitter(str(place.events), 0)
    emitter.emit(wire.EventKind.ATTACHED, role="rank", world_size=world_size, versions={"torch": "2"})
    if lost:
        emitter.emit(wire.EventKind.STATES_RESTORED, step=resumed_from, kept=[], lost=lost)
    Journal(run).add_event(OwnEventKind.ATTEMPT_STARTED, 0.0, attempt=number, resumed_from_step=resumed_from)


def judge(run):
    (verdict,) = judge_resumes(run)
    return verdict


def test_equal_rows_and_losses_are_exact(run):
    add_attempt(run, 1, [(5, "a", 1.0), (6, "b", 0.5), (7, "c", None)])
    add_attempt(run, 2, [(6, "b", 0.5), (7, "c", 0.25)], resumed_from=5)

    verdict = judge(run)

    assert (verdict.exactness, verdict.compared_steps, verdict.step) == (Exactness.EXACT, 2, 5)


def test_equal_rows_without_a_loss_prove_nothing(run):
    add_attempt(run, 1, [(6, "b", None)])
    add_attempt(run, 2, [(6, "b", 0.5)], resumed_from=5)

    assert judge(run).exactness is Exactness.UNKNOWN


def test_the_first_difference_is_named(run):
    add_attempt(run, 1, [(6, "b", 0.5), (7, "c", 0.25)])
    add_attempt(run, 2, [(6, "b", 0.5000001), (7, "d", 0.25)], resumed_from=5)

    verdict = judge(run)

    assert verdict.exactness is Exactness.APPROXIMATE
    assert verdict.reason.en == "the loss of step 6 was 0.5000001, before 0.5"


def test_other_rows_are_named_with_their_rank(run):
    add_attempt(run, 1, [(6, "b", 0.5)])
    add_attempt(run, 2, [(6, "x", 0.5)], resumed_from=5)

    assert judge(run).reason.en == "step 6 was made of other rows on rank 0"


def test_a_changed_world_size_and_what_was_lost_are_the_reason(run):
    add_attempt(run, 1, [(6, "b", 0.5)], world_size=2)
    add_attempt(run, 2, [], resumed_from=6, lost=["loader states"])

    verdict = judge(run)

    assert verdict.exactness is Exactness.APPROXIMATE
    assert "not set back: loader states; 1 ranks, before 2" in verdict.reason.en


def test_a_command_that_did_not_take_the_checkpoint_is_found_out(run):
    """As a script of the user's own may ignore it: that shall not pass in silence."""
    add_attempt(run, 1, [(6, "b", 0.5)])
    add_attempt(run, 2, [(6, "b", 0.5)], resumed_from=5)
    Emitter(str(run.attempt(2).events), 0).emit(wire.EventKind.TRAIN_BEGAN, step=0, target_step=14)

    verdict = judge(run)

    assert verdict.exactness is Exactness.APPROXIMATE
    assert verdict.reason.en == "the command did not take the checkpoint and began at step 0"


def test_a_restart_at_zero_is_no_resume(run):
    add_attempt(run, 1, [(1, "a", 1.0)])
    add_attempt(run, 2, [(1, "a", 1.0)])

    assert judge_resumes(run) == ()
