"""Did a resumed attempt go on exactly where the run was broken off?

Steps that were made before the break and again after it are compared: the rows they were made of, and the loss where
one was logged. Equal losses speak for an exact resume, the first unequal step against it; equal rows alone prove
nothing.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_events
from laststep.records.event import Event, OwnEventKind
from laststep.records.resume import Exactness, ResumeVerdict
from laststep.records.text import Text, join_texts
from laststep.telemetry.read_fingerprints import Fingerprint, read_fingerprints
from laststep_guard import wire

_SAME = Text(
    en="{count} repeated step(s) had the same rows, {losses} of them a logged loss, all equal",
    zh="重复的 {count} 步数据行一致，其中 {losses} 步有损失记录，全部相等",
)
_ROWS_ONLY = Text(
    en="{count} repeated step(s) had the same rows, but no loss was logged in them",
    zh="重复的 {count} 步数据行一致，但没有损失记录",
)
_OTHER_ROWS = Text(
    en="step {step} was made of other rows on rank {rank}", zh="第 {step} 步在 rank {rank} 上的数据行不同"
)
_OTHER_LOSS = Text(
    en="the loss of step {step} was {now!r}, before {before!r}", zh="第 {step} 步的损失为 {now!r}，此前为 {before!r}"
)
_BEGAN_ELSEWHERE = Text(
    en="the command did not take the checkpoint and began at step {began}", zh="命令未采用该检查点，从第 {began} 步开始"
)
_NOTHING_TO_COMPARE = Text(en="no step was made twice, so there is nothing to compare", zh="没有重复的步数，无从比较")
_LOST = Text(en="not set back: {lost}", zh="未能恢复：{lost}")
_WORLD = Text(en="{now} ranks, before {before}", zh="rank 数为 {now}，此前为 {before}")
_VERSION = Text(en="{package} {now}, before {before}", zh="{package} 为 {now}，此前为 {before}")
_BECAUSE = Text(en="{what} ({why})", zh="{what}（{why}）")


@dataclass(frozen=True, slots=True)
class _Comparison:
    compared: int = 0
    losses: int = 0
    difference: Text | None = None


def judge_resumes(folder: RunFolder) -> tuple[ResumeVerdict, ...]:
    """Judge every resume of a run, oldest first."""
    return tuple(_judge_all(folder))


def _judge_all(folder: RunFolder) -> Iterator[ResumeVerdict]:
    attempts = folder.attempts()
    started = {event.fields.get("attempt"): event for event in read_events(folder) if event.kind == _STARTED}
    for position, place in enumerate(attempts[1:], start=1):
        number = int(place.path.name)
        step = started[number].fields.get("resumed_from_step") if number in started else None
        if step is None:
            continue
        yield _judge(number, int(step), place, attempts[:position], folder)


_STARTED = OwnEventKind.ATTEMPT_STARTED


def _judge(
    number: int, step: int, place: AttemptFolder, before: Sequence[AttemptFolder], folder: RunFolder
) -> ResumeVerdict:
    comparison = _compare_ranks(place, before, step)
    events = read_events(folder, place)
    changes = [*_list_lost(events), *_list_changes(read_events(folder, before[-1]), events)]
    began = _find_begin(events)
    if began is not None and began != step:
        exactness, reason = Exactness.APPROXIMATE, _BEGAN_ELSEWHERE.fill(began=began)
    elif comparison.difference is not None:
        exactness, reason = Exactness.APPROXIMATE, comparison.difference
    elif comparison.losses:
        exactness, reason = Exactness.EXACT, _SAME.fill(count=comparison.compared, losses=comparison.losses)
    else:
        exactness = Exactness.APPROXIMATE if changes else Exactness.UNKNOWN
        reason = _ROWS_ONLY.fill(count=comparison.compared) if comparison.compared else _NOTHING_TO_COMPARE
    if changes and exactness is not Exactness.EXACT:
        reason = _BECAUSE.fill(what=reason, why=join_texts(changes, between="; "))
    return ResumeVerdict(
        attempt=number, step=step, exactness=exactness, compared_steps=comparison.compared, reason=reason
    )


def _compare_ranks(place: AttemptFolder, before: Sequence[AttemptFolder], step: int) -> _Comparison:
    results = []
    with contextlib.suppress(OSError):
        for path in sorted(place.fingerprints.iterdir()):
            past: dict[int, Fingerprint] = {}
            for attempt in before:
                past |= read_fingerprints(attempt.fingerprints / path.name)
            rank = path.name.removesuffix(".jsonl").rpartition("-")[2]
            results.append(_compare(read_fingerprints(path), past, step, rank))
    return _Comparison(
        compared=max((result.compared for result in results), default=0),
        losses=sum(result.losses for result in results),
        difference=next((result.difference for result in results if result.difference is not None), None),
    )


def _compare(now: Mapping[int, Fingerprint], past: Mapping[int, Fingerprint], begin: int, rank: str) -> _Comparison:
    compared = losses = 0
    for step in sorted(step for step in set(now) & set(past) if step > begin):
        before, after = past[step], now[step]
        if None not in (before.rows, after.rows) and before.rows != after.rows:
            return _Comparison(compared, losses, _OTHER_ROWS.fill(step=step, rank=rank))
        if None not in (before.loss, after.loss) and repr(before.loss) != repr(after.loss):  # NaN equals itself here
            return _Comparison(compared, losses, _OTHER_LOSS.fill(step=step, now=after.loss, before=before.loss))
        compared += 1
        losses += None not in (before.loss, after.loss)
    return _Comparison(compared, losses)


def _find_begin(events: Sequence[Event]) -> int | None:
    """Find the step at which the trainer began; None when it never did."""
    begun = [event.fields.get("step") for event in events if event.kind == wire.EventKind.TRAIN_BEGAN]
    return int(begun[0]) if begun and begun[0] is not None else None


def _list_lost(events: Sequence[Event]) -> list[Text]:
    restored = [event for event in events if event.kind == wire.EventKind.STATES_RESTORED]
    lost = sorted({str(what) for event in restored for what in event.fields.get("lost") or ()})
    return [_LOST.fill(lost="; ".join(lost))] if lost else []


def _list_changes(before: Sequence[Event], now: Sequence[Event]) -> list[Text]:
    """List what is another than before: the number of ranks, the versions of libraries."""
    old, new = _read_attached(before), _read_attached(now)
    if not old or not new:
        return []
    changes = []
    if old.get("world_size") != new.get("world_size"):
        changes.append(_WORLD.fill(now=new.get("world_size"), before=old.get("world_size")))
    versions, other = old.get("versions") or {}, new.get("versions") or {}
    changes += [
        _VERSION.fill(package=name, now=other.get(name), before=version)
        for name, version in versions.items()
        if other.get(name) != version
    ]
    return changes


def _read_attached(events: Sequence[Event]) -> Mapping[str, Any]:
    ranks = [event for event in events if event.kind == wire.EventKind.ATTACHED and event.fields.get("role") == "rank"]
    return ranks[0].fields if ranks else {}
