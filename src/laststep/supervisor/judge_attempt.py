"""Which exit code do the facts of an attempt add up to?

Exit codes lie: torchrun says 1 for a rank that was killed, `swift` says 247, and a trainer that hits the end of its
data says 0. So what decides is how the ranks themselves ended, and whether their beats reached the target step.
"""

import math
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.records.ending import Ending, ProcessEnd
from laststep.records.event import Event
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import ExitCode, Judgement, Outcome
from laststep_guard import wire

# Within this time after the first failure, the others are its consequences and the most telling one is taken.
_TOGETHER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Failure:
    """A rank, or a launcher (`rank` None), that did not end with 0."""

    rank: int | None
    end: ProcessEnd


def judge_attempt(facts: AttemptFacts) -> Judgement:
    """Say how an attempt ended."""
    if facts.ending is None:
        return Judgement(Outcome.LOST, ExitCode.LOST)
    failure = _find_first_failure(facts, facts.ending)
    if facts.ending.stop_requests and not _came_before(failure, facts.ending):
        return _judge_stopped(facts, facts.ending)
    if facts.ending.command.code == 0:
        return _judge_success(facts)
    if failure is not None:
        return Judgement(
            Outcome.FAILED, normalise(failure.end.code), rank=failure.rank, signal=_signal_of(failure.end.code)
        )
    code = facts.ending.command.code
    outcome = Outcome.FAILED if is_trainer_seen(facts) or code < 0 else Outcome.COMMAND_ENDED
    return Judgement(outcome, normalise(code), signal=_signal_of(code))


def normalise(code: int) -> int:
    """Turn a code as subprocess gives it into one as a shell gives it."""
    return 128 - code if code < 0 else code


def is_trainer_seen(facts: AttemptFacts) -> bool:
    """Tell whether a trainer ever began to train."""
    seen_in_beat = any(wire.Flag.TRAINER_SEEN in beat.flags for beat in facts.beats)
    return seen_in_beat or any(event.kind == wire.EventKind.TRAIN_BEGAN for event in facts.events)


def _judge_success(facts: AttemptFacts) -> Judgement:
    if not is_trainer_seen(facts):
        return Judgement(Outcome.COMMAND_ENDED, ExitCode.FINISHED)
    if _all_got_there(facts) and not _has_lost_its_end(facts.events):
        early = any(wire.Flag.STOPPED_EARLY in beat.flags for beat in facts.beats)
        return Judgement(Outcome.STOPPED_EARLY if early else Outcome.FINISHED, ExitCode.FINISHED)
    return Judgement(Outcome.UNFINISHED, ExitCode.UNFINISHED)


def _has_lost_its_end(events: Iterable[Event]) -> bool:
    """Tell whether the last save of the training failed, so that what it trained last was never written."""
    failed = [event.fields.get("step") or 0 for event in events if event.kind == wire.EventKind.SAVE_FAILED]
    saved = [event.fields.get("step") or 0 for event in events if event.kind == wire.EventKind.CHECKPOINT_SAVED]
    return bool(failed) and max(failed) >= max(saved, default=0)


def _judge_stopped(facts: AttemptFacts, ending: Ending) -> Judgement:
    # The request may come while the last step's work is being put away.
    if ending.command.code == 0 and is_trainer_seen(facts) and _all_got_there(facts):
        return _judge_success(facts)
    return Judgement(Outcome.STOPPED, ExitCode.STOPPED)


def _all_got_there(facts: AttemptFacts) -> bool:
    """Tell whether every rank that ever attached reached the target step, or stopped by a rule of its trainer."""
    training = [beat for beat in facts.beats if wire.Flag.TRAINER_SEEN in beat.flags]
    ranks = {
        event.rank for event in facts.events if event.kind == wire.EventKind.TRAIN_BEGAN and event.rank is not None
    }
    if facts.beats:
        return all(_got_there(beat) for beat in training) and ranks <= {beat.rank for beat in training}
    return _got_there_by_events(facts.events, ranks)


def _got_there(beat: wire.Beat) -> bool:
    if wire.Flag.TRAIN_ENDED not in beat.flags:
        return False
    return wire.Flag.STOPPED_EARLY in beat.flags or 0 < beat.target_step <= beat.step


def _got_there_by_events(events: Iterable[Event], ranks: set[int]) -> bool:
    """Judge by events alone, for where no beat could be written."""
    ended = {
        event.rank
        for event in events
        if event.kind == wire.EventKind.TRAIN_ENDED
        and (event.fields.get("stopped_early") or 0 < event.fields.get("target_step", 0) <= event.fields.get("step", 0))
    }
    return bool(ended) and ranks <= ended


def _find_first_failure(facts: AttemptFacts, ending: Ending) -> _Failure | None:
    """Find the failure that decides: of a rank, else of a launcher's child that had not become a rank yet."""
    recorded = _list_recorded_ends(facts.events)
    rank_of_pid = _find_rank_pids(facts)
    ends = _leave_out_ours([ending.command, *ending.reaped, *recorded], ending)
    by_ranks = [_Failure(rank_of_pid[end.pid], end) for end in ends if end.pid in rank_of_pid]
    failure = _choose_most_telling(by_ranks)
    if failure is None and not _tells_a_signal(ending.command.code):
        failure = _find_killed_child(_leave_out_ours(recorded, ending))
    return failure


def _tells_a_signal(code: int) -> bool:
    """Tell whether the command itself ended by a signal. A front that is interrupted kills its child on the way out."""
    return code < 0 or 128 < code <= 128 + signal.NSIG


def _find_killed_child(ends: list[ProcessEnd]) -> _Failure | None:
    """Find a launcher's child that a signal ended before it was known as a rank.

    Those that exited say nothing here: launchers start small programs as well, and the command's own code speaks.
    """
    killed = sorted((end for end in ends if end.code < 0), key=lambda end: (end.code == -signal.SIGTERM, end.at))
    if not killed:
        return None
    first = killed[0]
    is_consequence = any(end.code > 0 and end.at <= first.at for end in ends)
    return None if first.code == -signal.SIGTERM and is_consequence else _Failure(None, first)


def _choose_most_telling(failures: list[_Failure]) -> _Failure | None:
    """Choose the first failure, or the one behind it when several came together."""
    if not failures:
        return None
    first_at = min(failure.end.at for failure in failures)
    together = [failure for failure in failures if failure.end.at - first_at <= _TOGETHER_SECONDS]
    return min(together, key=lambda failure: (_weight(failure.end.code), failure.end.at))


def _leave_out_ours(ends: Iterable[ProcessEnd], ending: Ending) -> list[ProcessEnd]:
    """Leave out those that ended well, and those that ended after we began to end them."""
    ours = [request.at for request in ending.stop_requests]
    if ending.sweep_began_at is not None:
        ours.append(ending.sweep_began_at)
    return [end for end in ends if end.code != 0 and end.at < min(ours, default=math.inf)]


def _find_rank_pids(facts: AttemptFacts) -> dict[int, int | None]:
    ranks: dict[int, int | None] = {
        event.pid: event.rank or 0
        for event in facts.events
        if event.kind == wire.EventKind.ATTACHED and event.fields.get("role") == "rank" and event.pid is not None
    }
    ranks.update((beat.pid, beat.rank) for beat in facts.beats)
    return ranks


def _list_recorded_ends(events: Iterable[Event]) -> list[ProcessEnd]:
    """List what the launchers saw of their children, since only a parent can see it."""
    ends = []
    for event in events:
        child, code = event.fields.get("child"), event.fields.get("code")
        if event.kind == wire.EventKind.CHILD_ENDED and isinstance(child, int) and isinstance(code, int):
            ends.append(ProcessEnd(child, code, event.time))
    return ends


def _came_before(failure: _Failure | None, ending: Ending) -> bool:
    return failure is not None and failure.end.at < ending.stop_requests[0].at


def _weight(code: int) -> int:
    """Order failures that came together: killed, aborted over a vanished peer, fell over it, ended by a launcher."""
    if code == -signal.SIGTERM:
        return 3
    if code == -signal.SIGABRT:
        return 1
    return 0 if code < 0 else 2


def _signal_of(code: int) -> int | None:
    if code == normalise(-signal.SIGTERM):
        return signal.SIGTERM  # a rank that saved first, and then left
    return -code if code < 0 else None
