"""What happened in the demonstration, in the order in which it happened?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.demo.kill_workers import Kill
from laststep.records.event import Event
from laststep.records.text import Text
from laststep_guard.wire import EventKind

_KILLED = Text(
    en="SIGKILL to loader worker {worker}, at step {step}, phase {phase}",
    zh="向数据加载进程 {worker} 发送 SIGKILL，第 {step} 步，阶段 {phase}",
)
_BEGAN = Text(en="training begins: {target_step} steps to go", zh="训练开始：共 {target_step} 步")
_FIXED = Text(en="known defect fixed: {name} ({change})", zh="已修复已知缺陷：{name}（{change}）")
_REBUILT = Text(
    en="loader rebuilt in {seconds:.2f} s, {resent} batches asked for again",
    zh="数据加载器在 {seconds:.2f} 秒内重建，重新请求 {resent} 个批次",
)
_DETACHED_TIED = Text(
    en="a loss that reaches no weight, tied to the model, so that no rank waits: {rows}",
    zh="损失未连到任何权重，已接到模型上，各 rank 无需等待：{rows}",
)
_DETACHED_NOTICED = Text(en="a loss that reaches no weight, noticed: {rows}", zh="发现损失未连到任何权重：{rows}")
_SAVED = Text(en="checkpoint-{step} saved", zh="checkpoint-{step} 已保存")
_REACHED = Text(en="step {step} of {target_step} reached", zh="到达第 {step} 步，共 {target_step} 步")
_ROW_UNKNOWN = Text(en="row unknown", zh="数据行未知")
_ROW_AND_MORE = Text(en="{row} and {more} more", zh="{row}，另有 {more} 行")


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline."""

    seconds: float  # since the run was started
    rank: int | None
    mark: str  # `kill`, `cure`, `save`, `end` or `note`
    text: Text


def tell_timeline(events: Sequence[Event], kills: Sequence[Kill], started_at: float) -> tuple[Moment, ...]:
    """Tell a run as moments: what was done to it, what laststep did about it, what was saved."""
    moments = [*_told_kills(kills, started_at), *_told_events(events, started_at)]
    return tuple(sorted(moments, key=lambda moment: moment.seconds))


def _told_kills(kills: Sequence[Kill], started_at: float) -> Iterator[Moment]:
    for kill in kills:
        text = _KILLED.fill(worker=kill.worker, step=kill.step, phase=kill.phase.name.lower())
        yield Moment(kill.time - started_at, kill.rank, "kill", text)


def _told_events(events: Sequence[Event], started_at: float) -> Iterator[Moment]:
    for event in events:
        told = _tell(event.kind, event.fields)
        if told is not None and not (event.kind in _TOLD_ONCE and event.rank not in (0, None)):
            yield Moment(event.time - started_at, None if event.kind in _TOLD_ONCE else event.rank, *told)


# All ranks report these at the same time; one line is enough.
_TOLD_ONCE = (EventKind.TRAIN_BEGAN, EventKind.TRAIN_ENDED, EventKind.CHECKPOINT_SAVED, EventKind.FIX_APPLIED)


def _tell(kind: str, fields: Mapping[str, Any]) -> tuple[str, Text] | None:  # noqa: PLR0911  # one line for each kind of event
    match kind:
        case EventKind.TRAIN_BEGAN:
            return "note", _BEGAN.fill(target_step=fields.get("target_step"))
        case EventKind.FIX_APPLIED:
            return "note", _FIXED.fill(name=fields.get("name"), change=fields.get("class"))
        case EventKind.LOADER_REBUILT:
            seconds, resent = fields.get("seconds") or 0.0, fields.get("resent")
            return "cure", _REBUILT.fill(seconds=seconds, resent=resent)
        case EventKind.LOSS_DETACHED:
            words = _DETACHED_TIED if fields.get("tied") else _DETACHED_NOTICED
            return "cure", words.fill(rows=_first(fields.get("rows")))
        case EventKind.CHECKPOINT_SAVED:
            return "save", _SAVED.fill(step=fields.get("step"))
        case EventKind.TRAIN_ENDED:
            return "end", _REACHED.fill(step=fields.get("step"), target_step=fields.get("target_step"))
    return None


def _first(rows: object) -> str | Text:
    if not isinstance(rows, list) or not rows:
        return _ROW_UNKNOWN
    text = str(rows[0])
    row = f"{text[:60]}…" if len(text) > 60 else text
    return _ROW_AND_MORE.fill(row=row, more=len(rows) - 1) if len(rows) > 1 else row
