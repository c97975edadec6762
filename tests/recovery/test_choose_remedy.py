"""A run is taken up again as long as that helps, and given up when it does not."""

import signal

from hypothesis import given
from hypothesis import strategies as st

from laststep.records.outcome import Judgement, Outcome
from laststep.records.remedy import NoRemedy, PastAttempt, Remedy
from laststep.records.resume import ResumePoint
from laststep.recovery.choose_remedy import MOST_PREEMPTIONS, MOST_WITHOUT_STEP, choose_remedy

POINT = ResumePoint(path="out/checkpoint-5", step=5)


def past(step=None, *, outcome=Outcome.FAILED, number=None):
    return PastAttempt(judgement=Judgement(outcome, 1, signal=number), last_step=step)


def test_what_died_behind_a_sound_checkpoint_goes_on_from_it():
    assert choose_remedy([past(7)], POINT) == Remedy(change="resume", remedy_class="identical", point=POINT)


def test_what_died_before_the_first_save_is_not_tried_again():
    """Nothing shows that it would get any further, and the code it ended with is the answer."""
    assert choose_remedy([past(3)], None) is NoRemedy.NOTHING_TO_GO_ON_FROM
    assert choose_remedy([past(3, number=signal.SIGKILL)], None) is NoRemedy.NOTHING_TO_GO_ON_FROM


def test_what_finished_or_was_stopped_needs_no_remedy():
    for outcome in (Outcome.FINISHED, Outcome.STOPPED_EARLY, Outcome.COMMAND_ENDED, Outcome.STOPPED):
        assert choose_remedy([past(7, outcome=outcome)], POINT) is NoRemedy.NOTHING_FAILED


def test_three_attempts_without_a_new_step_are_enough():
    attempts = [past(7), past(7), past(6)]

    assert isinstance(choose_remedy(attempts, POINT), Remedy)
    assert choose_remedy([*attempts, past(7)], POINT) is NoRemedy.WITHOUT_PROGRESS


def test_a_step_gained_starts_the_count_anew():
    assert isinstance(choose_remedy([past(7), past(7), past(6), past(8), past(8), past(8)], POINT), Remedy)


def test_what_was_ended_from_outside_has_a_budget_of_its_own():
    preempted = [past(7, number=signal.SIGTERM)] * MOST_PREEMPTIONS

    assert isinstance(choose_remedy(preempted, POINT), Remedy)
    assert choose_remedy([*preempted, *preempted[:1]], POINT) is NoRemedy.WITHOUT_PROGRESS


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([None, 9, 15])), min_size=1, max_size=200))
def test_it_always_comes_to_an_end(history):
    """With at most N steps to gain, no run is taken up more often than N times both budgets."""
    attempts = []
    for step, number in history:
        attempts.append(past(step, number=number))
        if not isinstance(choose_remedy(attempts, POINT), Remedy):
            break

    gains = len({attempt.last_step for attempt in attempts})
    assert len(attempts) <= (gains + 1) * (MOST_WITHOUT_STEP + MOST_PREEMPTIONS)
