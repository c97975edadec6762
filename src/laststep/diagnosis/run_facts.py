"""What does a run folder say of its last attempt, apart from what the command printed?

Exit codes, counters of the kernel and events of the guards are no texts that somebody may have quoted: what they say is
stronger than a log. Each fact comes with the line of the record that says it.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_attempt_ending, read_event
from laststep.records.ending import Ending
from laststep.records.event import Event
from laststep.records.verdict import Evidence
from laststep_guard import wire

_Kind = wire.EventKind
COUNTED_KILL, COUNTED_NONE = "the kernel counted a kill", "the kernel counted no kill"
EXITED_WELL, ASKED_TO_STOP = "exit status 0", "somebody asked to stop"
RANK_FAILED, REACHED = "a rank failed", "the last step was reached"
MEMORY_FULL = "memory came to its limit"
SIGKILLED, SIGBUS = "a process of the run died of SIGKILL", "a process of the run died of SIGBUS"
TORN_CHECKPOINT, LFS_CHECKPOINT = "the newest checkpoint is incomplete", "the newest checkpoint holds LFS pointers"
_FULL = 0.98  # the kernel takes back what it can before it kills
_KILL, _BUS = 9, 7  # on Linux, where trainings run, wherever this is read


def _died_of(number: int) -> Callable[[Event], bool]:
    return lambda event: event.fields.get("code") == -number


def _failed_for(*words: str) -> Callable[[Event], bool]:
    return lambda event: any(word in str(event.fields.get("reason")) for word in words)


def _reached_target(event: Event) -> bool:
    step, target = event.fields.get("step"), event.fields.get("target_step")
    has_reached = isinstance(step, int) and isinstance(target, int) and 0 < target <= step
    return bool(event.fields.get("stopped_early")) or has_reached


# By name: the kind of the event that tells it, and what has to hold for the event.
BY_EVENT: Mapping[str, tuple[str, Callable[[Event], bool]]] = {
    "a loader worker died of SIGKILL": (_Kind.WORKER_DIED, _died_of(_KILL)),
    "a loader worker died of SIGBUS": (_Kind.WORKER_DIED, _died_of(_BUS)),
    SIGKILLED: (_Kind.CHILD_ENDED, _died_of(_KILL)),
    SIGBUS: (_Kind.CHILD_ENDED, _died_of(_BUS)),
    "a save found no space": (_Kind.SAVE_FAILED, _failed_for("No space left", "Errno 28")),
    "a save met a quota": (_Kind.SAVE_FAILED, _failed_for("quota", "Errno 122")),
    "a save could not write there": (_Kind.SAVE_FAILED, _failed_for("Read-only", "Errno 30", "Input/output", "Stale")),
    "a batch does not fit into memory": (_Kind.BATCH_DOES_NOT_FIT, lambda _: True),
    "a loss reached no parameter": (_Kind.LOSS_DETACHED, lambda _: True),
    RANK_FAILED: (_Kind.RANK_FAILED, lambda _: True),
    REACHED: (_Kind.TRAIN_ENDED, _reached_target),
}
# What is done about a fault makes it one that the run got over.
_CURED_BY = {_Kind.WORKER_DIED: _Kind.LOADER_REBUILT, _Kind.SAVE_FAILED: _Kind.CHECKPOINT_SAVED}
NAMES = frozenset(BY_EVENT) | {
    *(COUNTED_KILL, COUNTED_NONE, EXITED_WELL, ASKED_TO_STOP),
    *(MEMORY_FULL, TORN_CHECKPOINT, LFS_CHECKPOINT),
}


@dataclass(frozen=True, slots=True)
class _Record:
    """An event with the line that it stands in."""

    event: Event
    evidence: Evidence


def tell_run(folder: RunFolder) -> Mapping[str, Evidence | None]:
    """Give the facts that hold for the last attempt of a run. A torn file is normal, and a garbled one says nothing."""
    attempts = folder.attempts()
    if not attempts:
        return {}
    ending = read_attempt_ending(attempts[-1])
    try:
        facts = dict(_tell_events(folder, attempts[-1], ending)) | dict(_tell_ending(folder, attempts[-1], ending))
    except (OSError, TypeError, ValueError):  # values of other types than we write
        return {}
    if not facts.keys().isdisjoint({SIGKILLED, RANK_FAILED}):
        facts.pop(REACHED, None)
    return facts


def _tell_events(
    folder: RunFolder, attempt: AttemptFolder, ending: Ending | None
) -> Iterator[tuple[str, Evidence | None]]:
    """Tell what the guards saw, each fact by its first event, without what the run got over."""
    records = list(_read_records(folder, attempt))
    last = {record.event.kind: record.event.time for record in records}
    for record in reversed(records):
        kind, time = record.event.kind, record.event.time
        if not _is_ours(record, ending) and last.get(_CURED_BY.get(kind, ""), 0.0) < time:
            yield from ((name, record.evidence) for name in _name_facts(record.event))


def _name_facts(event: Event) -> Iterator[str]:
    return (name for name, (kind, holds) in BY_EVENT.items() if event.kind == kind and holds(event))


def _is_ours(record: _Record, ending: Ending | None) -> bool:
    """Say whether a process ended because we ended it."""
    if ending is None or record.event.kind != _Kind.CHILD_ENDED:
        return False
    ours = [request.at for request in ending.stop_requests]
    ours += [ending.sweep_began_at] if ending.sweep_began_at is not None else []
    return bool(ours) and record.event.time >= min(ours)


def _tell_ending(folder: RunFolder, attempt: AttemptFolder, ending: Ending | None) -> Iterator[tuple[str, Evidence]]:
    if ending is None:
        return
    text = attempt.ending.read_text(encoding="utf-8", errors="replace")
    source = _name(folder, attempt.ending)
    if ending.oom_kills is not None:
        name = COUNTED_KILL if ending.oom_kills else COUNTED_NONE
        yield name, _quote(source, text, r'"oom_kills": ?\d+')
    if ending.memory_peak_bytes and ending.memory_peak_bytes >= _FULL * (ending.memory_limit_bytes or math.inf):
        yield MEMORY_FULL, _quote(source, text, r'"memory_peak_bytes": ?\d+')
    if ending.stop_requests:
        yield ASKED_TO_STOP, _quote(source, text, r'"stop_requests": ?\[[^\]]*\]')
    if ending.command.code == 0:
        yield EXITED_WELL, _quote(source, text, r'"code": ?0')
    if ending.command.code in (-_KILL, 128 + _KILL) and not ending.stop_requests:
        yield SIGKILLED, _quote(source, text, r'"code": ?(?:-9|137)')


def _quote(source: str, text: str, pattern: str) -> Evidence:
    match = re.search(pattern, text)
    if match is None:
        return Evidence(source, None, "")
    return Evidence(source, text.count("\n", 0, match.start()) + 1, match.group())


def _read_records(folder: RunFolder, attempt: AttemptFolder) -> Iterator[_Record]:
    """Read the events of an attempt, in the order of time."""
    records = [record for path in sorted(attempt.events.glob("*.jsonl")) for record in _read_file(folder, path)]
    yield from sorted(records, key=lambda record: record.event.time)


def _read_file(folder: RunFolder, path: Path) -> Iterator[_Record]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for number, line in enumerate(lines, 1):
        event = read_event(line)
        if event is not None:
            yield _Record(event, Evidence(_name(folder, path), number, line.decode("utf-8", "replace")))


def _name(folder: RunFolder, path: Path) -> str:
    return path.relative_to(folder.path).as_posix()
