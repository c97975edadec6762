"""What happened in the demonstration, in the order in which it happened?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.demo.kill_workers import Kill
from laststep.records.event import Event
from laststep_guard.wire import EventKind


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline."""

    seconds: float  # since the run was started
    rank: int | None
    mark: str  # `kill`, `cure`, `save`, `end` or `note`
    text: str


def tell_timeline(events: Sequence[Event], kills: Sequence[Kill], started_at: float) -> tuple[Moment, ...]:
    """Tell a run as moments: what was done to it, what laststep did about it, what was saved."""
    moments = [*_told_kills(kills, started_at), *_told_events(events, started_at)]
    return tuple(sorted(moments, key=lambda moment: moment.seconds))


def _told_kills(kills: Sequence[Kill], started_at: float) -> Iterator[Moment]:
    for kill in kills:
        text = f"SIGKILL to loader worker {kill.worker}, at step {kill.step}, phase {kill.phase.name.lower()}"
        yield Moment(kill.time - started_at, kill.rank, "kill", text)


def _told_events(events: Sequence[Event], started_at: float) -> Iterator[Moment]:
    for event in events:
        told = _tell(event.kind, event.fields)
        if told is not None and not (event.kind in _TOLD_ONCE and event.rank not in (0, None)):
            yield Moment(event.time - started_at, None if event.kind in _TOLD_ONCE else event.rank, *told)


# All ranks report these at the same time; one line is enough.
_TOLD_ONCE = (EventKind.TRAIN_BEGAN, EventKind.TRAIN_ENDED, EventKind.CHECKPOINT_SAVED, EventKind.FIX_APPLIED)


def _tell(kind: str, fields: Mapping[str, Any]) -> tuple[str, str] | None:  # noqa: PLR0911  # one line for each kind of event
    match kind:
        case EventKind.TRAIN_BEGAN:
            return "note", f"training begins: {fields.get('target_step')} steps to go"
        case EventKind.FIX_APPLIED:
            return "note", f"known defect fixed: {fields.get('name')} ({fields.get('class')})"
        case EventKind.LOADER_REBUILT:
            seconds, resent = fields.get("seconds") or 0.0, fields.get("resent")
            return "cure", f"loader rebuilt in {seconds:.2f} s, {resent} batches asked for again"
        case EventKind.LOSS_DETACHED:
            cure = "tied to the model, so that no rank waits" if fields.get("tied") else "noticed"
            return "cure", f"a loss that reaches no weight, {cure}: {_first(fields.get('rows'))}"
        case EventKind.CHECKPOINT_SAVED:
            return "save", f"checkpoint-{fields.get('step')} saved"
        case EventKind.TRAIN_ENDED:
            return "end", f"step {fields.get('step')} of {fields.get('target_step')} reached"
    return None


def _first(rows: object) -> str:
    if not isinstance(rows, list) or not rows:
        return "row unknown"
    text = str(rows[0])
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{text[:60]}{'…' if len(text) > 60 else ''}{more}"
