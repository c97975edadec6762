"""One row of the exit code table a test: facts in, code and outcome out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.records.ending import Ending, ProcessEnd, StopManner, StopRequest
from laststep.records.event import Event
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import Outcome
from laststep.supervisor.judge_attempt import judge_attempt
from laststep_guard import wire

COMMAND, RANK_0, RANK_1, AGENT = 10, 100, 101, 50
TRAINED = wire.Flag.TRAINER_SEEN
ENDED = TRAINED | wire.Flag.TRAIN_ENDED
EARLY = ENDED | wire.Flag.STOPPED_EARLY


def beat(rank=0, step=5, flags=ENDED, target=5):
    return wire.Beat(
        rank=rank, local_rank=rank, world_size=2, pid=RANK_0 + rank, started_at=0, phase=wire.Phase.END, flags=flags,
        step=step, target_step=target, micro_step=0, beat_at=0, phase_since=0,
    )  # fmt: skip


def child(pid, code, at):
    return Event(at, wire.EventKind.CHILD_ENDED, pid=AGENT, fields={"child": pid, "code": code})


def began(rank=0):
    return Event(0, wire.EventKind.TRAIN_BEGAN, pid=RANK_0 + rank, rank=rank)


def judge(code=0, *, beats=(), events=(), stops=(), sweep=None, reaped=(), at=20.0):
    ending = Ending(
        command=ProcessEnd(COMMAND, code, at), started_at=0, sweep_began_at=sweep,
        stop_requests=tuple(StopRequest(StopManner.WELL, when) for when in stops),
        reaped=tuple(ProcessEnd(*end) for end in reaped),
    )  # fmt: skip
    judgement = judge_attempt(AttemptFacts(ending=ending, beats=tuple(beats), events=tuple(events)))
    return judgement.outcome, judgement.exit_code


def test_every_rank_at_the_target_is_finished():
    assert judge(beats=[beat(0), beat(1)]) == (Outcome.FINISHED, 0)


def test_the_trainers_own_rule_may_end_it_earlier():
    assert judge(beats=[beat(0, 3, EARLY), beat(1, 3, EARLY)]) == (Outcome.STOPPED_EARLY, 0)


def saved(kind, step):
    return Event(9, kind, pid=RANK_0, rank=0, fields={"step": step})


def test_what_was_trained_last_and_never_written_is_94():
    """The disk was full to the end, and the script said 0."""
    lost = [saved(wire.EventKind.CHECKPOINT_SAVED, 3), saved(wire.EventKind.SAVE_FAILED, 5)]
    found_room = [saved(wire.EventKind.SAVE_FAILED, 3), saved(wire.EventKind.CHECKPOINT_SAVED, 5)]

    assert judge(beats=[beat(0), beat(1)], events=lost) == (Outcome.UNFINISHED, 94)
    assert judge(beats=[beat(0), beat(1)], events=found_room) == (Outcome.FINISHED, 0)


@pytest.mark.parametrize(
    "laggard",
    [beat(1, 4), beat(1, 5, TRAINED), beat(1, 0, TRAINED), beat(1, 5, ENDED, target=0)],
    ids=["a step short", "train() never came back", "never stepped", "no target known"],
)
def test_one_rank_that_did_not_get_there_is_94(laggard):
    """0 is for every rank at the target step, with its train() returned."""
    assert judge(beats=[beat(0), laggard]) == (Outcome.UNFINISHED, 94)


def test_a_rank_whose_beat_is_missing_did_not_get_there():
    assert judge(beats=[beat(0)], events=[began(0), began(1)]) == (Outcome.UNFINISHED, 94)


def test_a_process_that_attached_but_never_trained_does_not_count():
    """A tokenising step of the same command has a rank, and no trainer."""
    assert judge(beats=[beat(0), beat(1, 0, wire.Flag(0), target=0)]) == (Outcome.FINISHED, 0)


def test_without_beats_the_events_speak():
    ended = Event(9, wire.EventKind.TRAIN_ENDED, rank=0, fields={"step": 5, "target_step": 5, "stopped_early": False})

    assert judge(events=[began(), ended]) == (Outcome.FINISHED, 0)
    assert judge(events=[began()]) == (Outcome.UNFINISHED, 94)


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 1), (77, 77), (247, 247)])
def test_a_command_without_a_trainer_keeps_its_own_code(code, expected):
    """247 as well: nothing says that it hides a signal."""
    assert judge(code) == (Outcome.COMMAND_ENDED, expected)


def test_a_command_that_dies_by_a_signal_is_normalised():
    assert judge(-9) == (Outcome.FAILED, 137)


def test_a_killed_rank_is_137_though_torchrun_says_1():
    assert judge(1, beats=[beat(1, 2, TRAINED)], events=[child(RANK_1, -9, 5)]) == (Outcome.FAILED, 137)


def test_a_killed_trainer_is_137_though_swift_says_247():
    assert judge(247, beats=[beat(0, 2, TRAINED)], events=[child(RANK_0, -9, 5)]) == (Outcome.FAILED, 137)


def test_a_child_killed_before_it_became_a_rank_is_137_though_swift_says_247():
    assert judge(247, events=[child(RANK_0, -9, 5)]) == (Outcome.FAILED, 137)


def test_a_child_killed_before_it_became_a_rank_is_137_though_torchrun_says_1():
    """Imports take half a minute, and the kernel does not wait for them."""
    events = [
        child(RANK_0, -9, 5),
        child(RANK_1, -15, 5.1),
        Event(6, "child_ended", fields={"child": AGENT, "code": 1}),
    ]

    assert judge(1, events=events) == (Outcome.FAILED, 137)


def test_a_small_program_that_failed_in_a_launcher_does_not_speak_for_the_run():
    assert judge(3, events=[child(RANK_0, 1, 5)]) == (Outcome.COMMAND_ENDED, 3)


def test_a_rank_that_fell_while_importing_is_told_by_the_command_and_not_by_the_agents_sigterm():
    assert judge(1, events=[child(RANK_1, 1, 5.0), child(RANK_0, -15, 5.1)]) == (Outcome.COMMAND_ENDED, 1)


def test_importing_ranks_that_somebody_terminated_are_143():
    events = [child(RANK_1, -15, 5.0), child(RANK_0, -15, 5.1), child(AGENT, 1, 5.3)]

    assert judge(1, events=events) == (Outcome.FAILED, 143)


def test_an_interrupted_front_is_130_though_it_killed_its_child_on_the_way_out():
    """As Python's subprocess.run does."""
    assert judge(-2, beats=[beat(0, 2, TRAINED)], events=[child(AGENT, -9, 19.9)]) == (Outcome.FAILED, 130)


def test_the_first_rank_to_fail_decides():
    events = [child(RANK_1, -9, 9), child(RANK_0, 1, 5)]

    assert judge(1, beats=[beat(0, 2, TRAINED), beat(1, 2, TRAINED)], events=events) == (Outcome.FAILED, 1)


def test_a_signal_outranks_an_exit_within_the_same_second():
    """The one that exited fell because its peer had vanished, and was noticed first."""
    events = [child(RANK_0, 1, 5.0), child(RANK_1, -9, 5.4)]

    assert judge(1, beats=[beat(0, 2, TRAINED), beat(1, 2, TRAINED)], events=events) == (Outcome.FAILED, 137)


def test_a_kill_outranks_the_abort_of_its_peer():
    events = [child(RANK_0, -6, 5.0), child(RANK_1, -9, 5.4)]

    assert judge(1, beats=[beat(0, 2, TRAINED), beat(1, 2, TRAINED)], events=events) == (Outcome.FAILED, 137)


def test_the_agents_sigterm_to_the_others_does_not_count():
    events = [child(RANK_1, -15, 5.0), child(RANK_0, 1, 5.1)]

    assert judge(1, beats=[beat(0, 2, TRAINED), beat(1, 2, TRAINED)], events=events) == (Outcome.FAILED, 1)


def test_a_rank_ended_by_somebodys_sigterm_alone_is_143_and_failed():
    assert judge(1, beats=[beat(0, 2, TRAINED)], events=[child(RANK_0, -15, 5)]) == (Outcome.FAILED, 143)


def test_what_we_ended_ourselves_is_not_a_failure_of_its_own():
    """The front was killed; its orphaned ranks then got our signals."""
    reaped = [(RANK_0, -15, 21.0), (RANK_1, -9, 23.0)]
    beats = [beat(0, 2, TRAINED), beat(1, 2, TRAINED)]

    assert judge(-9, beats=beats, reaped=reaped, sweep=20.1) == (Outcome.FAILED, 137)


def test_an_orphaned_rank_that_we_reaped_counts():
    assert judge(1, beats=[beat(0, 2, TRAINED)], reaped=[(RANK_0, -11, 5.0)]) == (Outcome.FAILED, 139)


def test_the_command_may_be_the_rank_itself():
    own = beat(0, 2, TRAINED)
    own = wire.Beat(**{**own.__dict__, "pid": COMMAND})

    assert judge(-11, beats=[own]) == (Outcome.FAILED, 139)


def test_stopped_on_request_is_143_whatever_the_command_says():
    for code in (0, 1, -15, 143):
        assert judge(code, beats=[beat(0, 2, TRAINED)], stops=[10.0], events=[child(RANK_0, -15, 10.1)]) == (
            Outcome.STOPPED,
            143,
        )


def test_a_failure_before_the_request_is_still_the_failure():
    """Somebody pressed Ctrl-C at a run that was falling over."""
    assert judge(1, beats=[beat(0, 2, TRAINED)], stops=[10.0], events=[child(RANK_0, -9, 5)]) == (Outcome.FAILED, 137)


def test_a_run_that_finishes_before_the_request_takes_hold_is_finished():
    assert judge(0, beats=[beat(0)], stops=[19.9]) == (Outcome.FINISHED, 0)


def test_a_failure_that_the_launcher_recovered_from_is_no_failure():
    """torchrun --max_restarts."""
    assert judge(0, beats=[beat(0), beat(1)], events=[child(999, -9, 5)]) == (Outcome.FINISHED, 0)


def test_a_command_that_fails_after_the_last_step_has_failed():
    assert judge(1, beats=[beat(0)]) == (Outcome.FAILED, 1)


def test_a_killed_holder_is_lost():
    assert judge_attempt(AttemptFacts(ending=None, beats=(), events=())).exit_code == 137


CODES = st.integers(-31, 255)
FLAGS = st.sampled_from([wire.Flag(0), TRAINED, ENDED, EARLY])


@given(
    code=CODES,
    beats=st.lists(st.tuples(st.integers(0, 6), FLAGS, st.integers(0, 6)), max_size=3),
    children=st.lists(st.tuples(st.integers(0, 3), CODES, st.floats(0, 30)), max_size=5),
    stops=st.lists(st.floats(0, 30), max_size=2),
    sweep=st.none() | st.floats(0, 30),
)
def test_zero_is_never_said_of_a_training_that_did_not_get_there(code, beats, children, stops, sweep):
    """Whatever the facts, 0 needs every trainer at its target, and every code is one a shell can give."""
    read = [beat(rank, step, flags, target) for rank, (step, flags, target) in enumerate(beats)]
    events = [child(RANK_0 + rank, ended, at) for rank, ended, at in children]

    outcome, exit_code = judge(code, beats=read, events=events, stops=stops, sweep=sweep)

    assert 0 <= exit_code <= 255
    trainers = [each for each in read if TRAINED in each.flags]
    got_there = all(
        ENDED in each.flags and (EARLY in each.flags or 0 < each.target_step <= each.step) for each in trainers
    )
    if exit_code == 0:
        assert got_there
        assert outcome in (Outcome.FINISHED, Outcome.STOPPED_EARLY, Outcome.COMMAND_ENDED)
