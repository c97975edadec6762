"""How does the last report look?"""

import io
from collections.abc import Iterator

from laststep.records.checkpoint import Soundness
from laststep.records.outcome import Outcome
from laststep.records.report import LastReport
from laststep.records.resume import Exactness
from laststep.records.text import Language, Text
from laststep.supervisor.build_report import shorten_home
from laststep.supervisor.words import format_duration, name_signal
from laststep_guard import wire

_HEADLINES = {
    Outcome.FINISHED: Text(en="finished", zh="已完成"),
    Outcome.STOPPED_EARLY: Text(
        en="finished: the trainer stopped early by its own rule", zh="已完成：训练器按自身规则提前停止"
    ),
    Outcome.COMMAND_ENDED: Text(en="the command ended; no training was seen", zh="命令已结束；未见训练"),
    Outcome.STOPPED: Text(en="stopped on request", zh="按请求停止"),
    Outcome.FAILED: Text(en="failed", zh="失败"),
    Outcome.UNFINISHED: Text(
        en="the command said 0, but the target step was not reached", zh="命令返回 0，但未达到目标步数"
    ),
    Outcome.WITHOUT_PROGRESS: Text(
        en="given up: it failed again and again without a new step", zh="放弃：反复失败且没有新的步数"
    ),
    Outcome.LOST: Text(en="lost: the process that held the run was killed", zh="丢失：持有运行的进程被杀死"),
}
_BY_SIGNAL = Text(en="{headline}: rank {rank} was ended by {signal}", zh="{headline}：rank {rank} 被 {signal} 结束")
_COMMAND_BY_SIGNAL = Text(en="{headline}: ended by {signal}", zh="{headline}：被 {signal} 结束")
_BY_RANK = Text(en="{headline}: rank {rank} failed first", zh="{headline}：rank {rank} 最先失败")
_TITLE = Text(en="{headline} · exit code {code} · {duration}", zh="{headline} · 退出码 {code} · {duration}")
_STEPS = Text(en="steps", zh="步数")
_ATTEMPTS = Text(en="attempts", zh="尝试次数")
_COUNT = Text(en="{count}", zh="{count}")
_RESUMES = Text(en="resumed", zh="续训")
_RESUME = Text(
    en="attempt {attempt} from step {step}, {exactness}: {reason}",
    zh="第 {attempt} 次尝试从第 {step} 步，{exactness}：{reason}",
)
_EXACTNESS = {
    Exactness.EXACT: Text(en="exact", zh="精确"),
    Exactness.APPROXIMATE: Text(en="approximate", zh="近似"),
    Exactness.UNKNOWN: Text(en="exactness unknown", zh="精确性未知"),
}
_SOUNDNESS = {
    Soundness.SOUND: Text(en="{path}", zh="{path}"),
    Soundness.UNSOUND: Text(en="{path} (not sound)", zh="{path}（不可靠）"),
    Soundness.UNKNOWN: Text(en="{path} (not verified)", zh="{path}（未校验）"),
}
_CHECKPOINTS = Text(en="checkpoints", zh="检查点")
_FAULT = Text(en="met", zh="遇到")
_NOTE = Text(en="note", zh="说明")
_OUTSIDE = Text(en="watched from outside only: {why}", zh="仅从外部监视：{why}")
_FOLDER = Text(en="run folder", zh="运行目录")
_GONE = Text(en="{count} more, no longer there", zh="另有 {count} 个，已不存在")
_NOT_FAULTS = (wire.EventKind.FIX_APPLIED, wire.EventKind.FIX_DECLINED, wire.EventKind.GUARD_DECLINED)
_GOOD = (Outcome.FINISHED, Outcome.STOPPED_EARLY)


def write_report_lines(report: LastReport, language: Language, *, is_colourful: bool) -> list[str]:
    """Write the report as lines: framed in colour for a terminal, plain otherwise."""
    title = _write_title(report).say(language)
    rows = _leave_out_repeated([(label.say(language), value) for label, value in _list_rows(report, language)])
    if is_colourful:
        return _frame(report, title, rows)
    width = max((len(label) for label, _ in rows), default=0)
    return [f"laststep: {title}", *(f"  {label:<{width}}  {value}" for label, value in rows)]


def _write_title(report: LastReport) -> Text:
    judgement = report.judgement
    headline = _HEADLINES[judgement.outcome]
    if judgement.signal is not None:
        words = _BY_SIGNAL if judgement.rank is not None else _COMMAND_BY_SIGNAL
        headline = words.fill(headline=headline, rank=judgement.rank, signal=name_signal(judgement.signal))
    elif judgement.rank is not None:
        headline = _BY_RANK.fill(headline=headline, rank=judgement.rank)
    return _TITLE.fill(headline=headline, code=int(judgement.exit_code), duration=format_duration(report.seconds))


def _list_rows(report: LastReport, language: Language) -> Iterator[tuple[Text, str]]:
    if report.steps is not None:
        yield _STEPS, f"{report.steps} / {report.target_steps or '?'}"
    for label, words in [*_list_checkpoints(report), *_list_attempts(report)]:
        yield label, words.say(language)
    for fault in sorted(report.faults, key=lambda fault: fault.kind in _NOT_FAULTS):
        yield _NOTE if fault.kind in _NOT_FAULTS else _FAULT, fault.summary.say(language)
    for note in report.notes:
        yield _NOTE, note.say(language)
    if report.unwatched_because is not None:
        yield _NOTE, _OUTSIDE.fill(why=report.unwatched_because).say(language)
    if report.run_folder is not None:
        yield _FOLDER, shorten_home(report.run_folder)


def _list_checkpoints(report: LastReport) -> Iterator[tuple[Text, Text]]:
    for checkpoint in report.checkpoints:
        if checkpoint.is_there:
            yield _CHECKPOINTS, _SOUNDNESS[checkpoint.soundness].fill(path=shorten_home(checkpoint.path))
    gone = sum(not checkpoint.is_there for checkpoint in report.checkpoints)
    if gone:
        yield _CHECKPOINTS, _GONE.fill(count=gone)


def _list_attempts(report: LastReport) -> Iterator[tuple[Text, Text]]:
    if report.attempts > 1:
        yield _ATTEMPTS, _COUNT.fill(count=report.attempts)
    for resume in report.resumes:
        exactness = _EXACTNESS[resume.exactness]
        words = _RESUME.fill(attempt=resume.attempt, step=resume.step, exactness=exactness, reason=resume.reason)
        yield _RESUMES, words


def _leave_out_repeated(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Write a label once for all the lines below it."""
    before = [None, *(label for label, _ in rows)]
    return [("" if label == above else label, value) for (label, value), above in zip(rows, before, strict=False)]


def _frame(report: LastReport, title: str, rows: list[tuple[str, str]]) -> list[str]:
    from rich.console import Console  # noqa: PLC0415  # heavy, and only needed at the very end
    from rich.panel import Panel  # noqa: PLC0415  # the same
    from rich.table import Table  # noqa: PLC0415  # the same
    from rich.text import Text as Styled  # noqa: PLC0415  # the same

    colour = "green" if report.judgement.outcome in _GOOD else "cyan" if report.judgement.exit_code == 0 else "red"
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in rows:
        table.add_row(label, Styled(value))
    console = Console(file=io.StringIO(), force_terminal=True, width=_find_width(), highlight=False)
    console.print(
        Panel(
            table, title=Styled(title, style=f"bold {colour}"), title_align="left", border_style=colour, padding=(0, 1)
        )
    )
    assert isinstance(console.file, io.StringIO)  # noqa: S101  # for the type checker
    return console.file.getvalue().splitlines()


def _find_width() -> int:
    import shutil  # noqa: PLC0415  # only for terminals

    return min(shutil.get_terminal_size().columns, 120)
