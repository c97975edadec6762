"""What does a run folder say?

Works on a folder that is being written, on a dead run, and on another machine: a torn last line is normal, a missing
file is an answer.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.records.ending import Ending, read_ending
from laststep.records.event import Event

_COMMON = ("time", "kind", "pid", "rank")


def read_events(folder: RunFolder, attempt: AttemptFolder | None = None) -> list[Event]:
    """Read laststep's events and the guards' (of one attempt, or of all), merged by time."""
    attempts = folder.attempts() if attempt is None else [attempt]
    files = [folder.events, *(path for each in attempts for path in _list_files(each.events))]
    return sorted((event for path in files for event in _read_lines(path)), key=lambda event: event.time)


def read_attempt_ending(attempt: AttemptFolder) -> Ending | None:
    """Read how an attempt ended; None while it has not, or when its holder was killed."""
    try:
        return read_ending(read_object(attempt.ending))
    except (KeyError, TypeError, ValueError):
        return None


def read_object(path: Path) -> dict[str, Any]:
    """Read one JSON object; empty when there is none."""
    try:
        values = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return {}
    return values if isinstance(values, dict) else {}


def read_event(line: bytes) -> Event | None:
    """Read one line; None when it is torn or no event."""
    try:
        values = msgspec.json.decode(line)
        return Event(
            time=float(values["time"]),
            kind=str(values["kind"]),
            pid=values.get("pid"),
            rank=values.get("rank"),
            fields={name: value for name, value in values.items() if name not in _COMMON},
        )
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _list_files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.jsonl"))
    except OSError:
        return []


def _read_lines(path: Path) -> Iterator[Event]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        event = read_event(line)
        if event is not None:
            yield event
