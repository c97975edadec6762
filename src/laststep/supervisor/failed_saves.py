"""How is a user told of a save that failed?"""

from collections.abc import Sequence

from laststep.records.event import Event
from laststep.records.report import Fault
from laststep.records.text import Text
from laststep.supervisor.words import format_bytes
from laststep_guard.wire import EventKind


def word_trouble(event: Event) -> Text:
    """Say what has become of a save, as soon as it has."""
    return _word_waiting(event) if event.kind == EventKind.SAVE_WAITS else _word_failure(event)


def _word_waiting(event: Event) -> Text:
    words = Text(
        en="the last save needs {needed}, and {free} are free: it waits up to {minutes} min. Make room beside {path}",
        zh="最后一次保存需要 {needed}，剩余 {free}：最多等待 {minutes} 分钟。请为 {path} 所在磁盘腾出空间",
    )
    values = event.fields
    return words.fill(
        needed=format_bytes(values.get("needed_bytes")),
        free=format_bytes(values.get("free_bytes")),
        minutes=round(float(values.get("seconds") or 0) / 60),
        path=values.get("path"),
    )


def _word_failure(event: Event) -> Text:
    words = Text(
        en="the save of step {step} failed on rank {rank}: {reason}, {free} free, {file}."
        " The training goes on; {again}",
        zh="第 {step} 步的保存在 rank {rank} 失败：{reason}，剩余 {free}，{file}。训练继续；{again}",
    )
    values = event.fields
    again = Text(en="it is tried again at step {step}", zh="将在第 {step} 步重试").fill(step=values.get("again_at"))
    later = Text(en="the next usual save is the next try", zh="下一次常规保存时再试")
    return words.fill(
        step=values.get("step"),
        rank=event.rank or 0,
        reason=values.get("reason"),
        free=format_bytes(values.get("free_bytes")),
        file=values.get("file") or values.get("path"),
        again=again if values.get("again_at") else later,
    )


def sum_up_failed_saves(group: Sequence[Event], everything: Sequence[Event]) -> Fault:
    """Sum up a run's failed saves for its last report. `everything`: its saves that came through are among it."""
    words = Text(
        en="{count} save(s) failed, at step {steps}: {reasons}. The training went on; {last}",
        zh="{count} 次保存失败（第 {steps} 步）：{reasons}。训练继续；{last}",
    )
    steps = sorted({int(event.fields.get("step") or 0) for event in group})
    saved = [int(event.fields.get("step") or 0) for event in everything if event.kind == EventKind.CHECKPOINT_SAVED]
    later = [step for step in saved if step > steps[-1]]
    good = Text(en="saved again at step {step}", zh="第 {step} 步已重新保存").fill(step=min(later, default=0))
    bad = Text(
        en="none has come through since: make room, or what was trained since step {step} is lost at its end",
        zh="此后没有成功的保存：请腾出空间，否则第 {step} 步之后的训练会丢失",
    ).fill(step=max((step for step in saved if step not in steps), default=0))
    reasons = sorted({str(event.fields.get("reason")) for event in group})
    summary = words.fill(
        count=len(steps), steps=", ".join(map(str, steps)), reasons="; ".join(reasons), last=good if later else bad
    )
    details = {"steps": steps, "reasons": reasons, "saved_again_at": min(later, default=None)}
    return Fault(EventKind.SAVE_FAILED, len(group), summary, details)
