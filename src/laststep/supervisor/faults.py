"""Which faults did the run meet, and what was done about each?

The same fault met again is counted, not repeated.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from laststep.records.event import Event
from laststep.records.report import Fault
from laststep.records.text import Text
from laststep.supervisor.failed_saves import sum_up_failed_saves
from laststep.supervisor.words import format_bytes, name_signal
from laststep_guard import wire

_MOST_ROWS = 12  # named in a line; the JSON has all

_Group = Sequence[Event]
_Kind = wire.EventKind


def list_faults(events: Iterable[Event]) -> tuple[Fault, ...]:
    """Group the guards' events into faults, in the order they were first met."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        if event.kind in _WRITERS:
            groups.setdefault(event.kind, []).append(event)
    everything = [event for group in groups.values() for event in group]
    return tuple(fault for kind, group in groups.items() if (fault := _WRITERS[kind](group, everything)) is not None)


def _workers_died(group: _Group, everything: _Group) -> Fault:
    rebuilt = [event for event in everything if event.kind == _Kind.LOADER_REBUILT]
    pauses = [float(event.fields.get("seconds") or 0) for event in rebuilt]
    codes = sorted({int(event.fields.get("code") or 0) for event in group})
    how = ", ".join(name_signal(-code) if code < 0 else f"exit {code}" for code in codes)
    resent = sum(int(event.fields.get("resent") or 0) for event in rebuilt)
    if not rebuilt:
        words = Text(en="{count} loader worker(s) died ({how})", zh="{count} 个数据加载进程死亡（{how}）")
        return _fault(group, words.fill(count=len(group), how=how), codes=codes)
    words = Text(
        en="{count} loader worker(s) died ({how}); loader rebuilt {rebuilt} time(s), {resent} batch(es) sent again,"
        " longest pause {pause:.2f} s",
        zh="{count} 个数据加载进程死亡（{how}）；加载器重建 {rebuilt} 次，重发 {resent} 个批次，"
        "最长停顿 {pause:.2f} 秒",
    )
    summary = words.fill(count=len(group), how=how, rebuilt=len(rebuilt), resent=resent, pause=max(pauses))
    notes = sorted({str(event.fields["note"]) for event in rebuilt if event.fields.get("note")})
    if notes:
        summary = Text(en="{first}. Not kept: {notes}", zh="{first}。未能保留：{notes}").fill(
            first=summary, notes="; ".join(notes)
        )
    return _fault(
        group, summary, codes=codes, rebuilt=len(rebuilt), resent=resent, longest_pause_seconds=max(pauses), notes=notes
    )


def _log_not_written(group: _Group, _everything: _Group) -> Fault:
    words = Text(
        en="{count} log entry(ies) could not be written ({where}): {reasons}",
        zh="{count} 条日志无法写入（{where}）：{reasons}",
    )
    where = sorted({str(event.fields.get("where")) for event in group})
    reasons = sorted({str(event.fields.get("reason")) for event in group})
    summary = words.fill(count=len(group), where=", ".join(where), reasons="; ".join(reasons))
    return _fault(group, summary, where=where, reasons=reasons)


def _loader_gave_up(group: _Group, _everything: _Group) -> Fault:
    words = Text(
        en="loading the same batch killed its worker {deaths} times; the run was stopped. Rows: {rows}",
        zh="同一批次使其加载进程死亡 {deaths} 次，运行已停止。数据行：{rows}",
    )
    deaths = max(int(event.fields.get("deaths_on_batch") or 0) for event in group)
    return _fault(group, words.fill(deaths=deaths, rows=_name_rows(group)), rows=_all_rows(group))


def _loader_resized(group: _Group, everything: _Group) -> Fault:
    moves = [event for event in everything if event.kind in (_Kind.LOADER_SHRUNK, _Kind.LOADER_GREW)]
    least = min(moves, key=lambda event: (event.fields.get("in_flight") or 0, event.fields.get("processes") or 0))
    last = max(moves, key=lambda event: event.time)
    words = Text(
        en="{limit} memory was short ({free} free, a batch takes {batch}): loader cut {count} time(s), down to"
        " {in_flight} batch(es) in flight in {processes} process(es); {last} at the end",
        zh="{limit} 内存不足（剩余 {free}，每批 {batch}）：加载器收缩 {count} 次，"
        "最低 {in_flight} 批在途、{processes} 个进程；结束时 {last} 批",
    )
    values = least.fields
    summary = words.fill(
        limit=values.get("limit"),
        free=format_bytes(values.get("free_bytes")),
        batch=format_bytes(values.get("batch_bytes")),
        count=len(group),
        in_flight=values.get("in_flight"),
        processes=values.get("processes"),
        last=last.fields.get("in_flight"),
    )
    return _fault(
        group,
        summary,
        grew=len(moves) - len(group),
        least_in_flight=values.get("in_flight"),
        last_in_flight=last.fields.get("in_flight"),
    )


def _batch_does_not_fit(group: _Group, _everything: _Group) -> Fault:
    words = Text(
        en="one batch needs {needed}, and {limit} memory leaves {free} of {total}. Rows: {rows}."
        " Give more memory, or smaller batches",
        zh="一个批次需要 {needed}，而 {limit} 内存在 {total} 中只剩 {free}。数据行：{rows}。请增加内存或减小批次",
    )
    worst = max(group, key=lambda event: event.fields.get("needed_bytes") or 0)
    values = worst.fields
    needed, free, total = (format_bytes(values.get(name)) for name in ("needed_bytes", "free_bytes", "limit_bytes"))
    return _fault(
        group,
        words.fill(needed=needed, limit=values.get("limit"), free=free, total=total, rows=_name_rows([worst])),
        rows=_all_rows(group),
    )


def _loss_detached(group: _Group, _everything: _Group) -> Fault:
    tied = sum(bool(event.fields.get("tied")) for event in group)
    words = Text(
        en="the loss of {count} micro-batch(es) reached no trainable parameter; {done}. Rows: {rows}",
        zh="{count} 个微批次的损失未连到任何可训练参数；{done}。数据行：{rows}",
    )
    kept = Text(
        en="tied to the model's output, so that all ranks stay together", zh="已接到模型输出上，使各 rank 保持同步"
    )
    only_named = Text(en="nothing was changed", zh="未做改动")
    summary = words.fill(count=len(group), done=kept if tied else only_named, rows=_name_rows(group))
    return _fault(group, summary, tied=tied, rows=_all_rows(group))


def _loss_summed(group: _Group, _everything: _Group) -> Fault:
    factor = group[-1].fields.get("factor")
    if group[-1].fields.get("fixed"):
        words = Text(
            en="the loss would have been summed over the accumulation, {factor} times too high; it is averaged now",
            zh="损失原本会按累积步求和，高出 {factor} 倍；现已取平均",
        )
    else:
        words = Text(
            en="the loss shown is {factor} times too high (and so are the gradients): it is summed over the"
            " accumulation. --allow altering corrects it",
            zh="显示的损失高出 {factor} 倍（梯度亦然）：它按累积步求和。--allow altering 可修正",
        )
    return _fault(group, words.fill(factor=factor), factor=factor, fixed=bool(group[-1].fields.get("fixed")))


def _rank_failed(group: _Group, _everything: _Group) -> Fault:
    first = group[0]
    words = Text(
        en="rank {rank} failed at step {step}: {error}: {message}",
        zh="rank {rank} 在第 {step} 步失败：{error}：{message}",
    )
    message = str(first.fields.get("message") or "").partition("\n")[0][:200]
    summary = words.fill(
        rank=first.rank, step=first.fields.get("step"), error=first.fields.get("error"), message=message
    )
    return _fault(group, summary, ranks=sorted({event.rank for event in group if event.rank is not None}))


def _fix_applied(group: _Group, _everything: _Group) -> Fault:
    words = Text(en="fix applied: {names}", zh="已应用修复：{names}")
    names = sorted({f"{event.fields.get('name')} ({event.fields.get('class')})" for event in group})
    return _fault(group, words.fill(names=", ".join(names)), names=names)


def _declined(words: Text) -> Callable[[_Group, _Group], Fault]:
    def write(group: _Group, _everything: _Group) -> Fault:
        reasons = sorted({f"{event.fields.get('name')} ({event.fields.get('reason')})" for event in group})
        return _fault(group, words.fill(names=", ".join(reasons)), names=reasons)

    return write


def _guard_error(group: _Group, _everything: _Group) -> Fault:
    words = Text(
        en="an error of laststep's own in {where} ({error}); the training was not touched by it",
        zh="laststep 自身在 {where} 出错（{error}）；训练未受影响",
    )
    places = sorted({str(event.fields.get("where")) for event in group})
    errors = sorted({f"{event.fields.get('error')}: {event.fields.get('message')}"[:200] for event in group})
    return _fault(group, words.fill(where=", ".join(places), error="; ".join(errors)), places=places, errors=errors)


def _fault(group: _Group, summary: Text, **details: Any) -> Fault:
    return Fault(group[0].kind, len(group), summary, details)


def _all_rows(group: _Group) -> list[str]:
    rows = {str(row) for event in group for row in event.fields.get("rows") or ()}
    return sorted(rows, key=_natural_order)


def _natural_order(row: str) -> list[tuple[int, str]]:
    """Order record 9 before record 10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", row)]


def _name_rows(group: _Group) -> str:
    rows = _all_rows(group)
    if not rows:
        return "?"
    shown = ", ".join(row if len(row) <= 100 else row[:99] + "…" for row in rows[:_MOST_ROWS])  # a row can be a book
    return shown if len(rows) <= _MOST_ROWS else f"{shown} … (+{len(rows) - _MOST_ROWS})"


_WRITERS: dict[str, Callable[[_Group, _Group], Fault | None]] = {
    _Kind.RANK_FAILED: _rank_failed,
    _Kind.WORKER_DIED: _workers_died,
    _Kind.LOADER_REBUILT: lambda _group, _everything: None,  # told with the deaths
    _Kind.SAVE_FAILED: sum_up_failed_saves,
    _Kind.CHECKPOINT_SAVED: lambda _group, _everything: None,  # told as a checkpoint
    _Kind.LOG_NOT_WRITTEN: _log_not_written,
    _Kind.LOADER_GAVE_UP: _loader_gave_up,
    _Kind.LOADER_SHRUNK: _loader_resized,
    _Kind.LOADER_GREW: lambda _group, _everything: None,  # told with the shrinking
    _Kind.BATCH_DOES_NOT_FIT: _batch_does_not_fit,
    _Kind.LOSS_DETACHED: _loss_detached,
    _Kind.LOSS_SUMMED: _loss_summed,
    _Kind.FIX_APPLIED: _fix_applied,
    _Kind.FIX_DECLINED: _declined(Text(en="fix not applied: {names}", zh="未应用修复：{names}")),
    _Kind.GUARD_DECLINED: _declined(Text(en="guard not attached: {names}", zh="守护未启用：{names}")),
    _Kind.GUARD_ERROR: _guard_error,
}
