"""How does the demonstration look?"""

from collections.abc import Callable, Iterator
from typing import Any

from laststep.demo.demonstrate import Demonstration
from laststep.demo.run_laststep import SupervisedRun
from laststep.demo.timeline import Moment
from laststep.records.text import Language, Text, join_texts

Paint = Callable[[str, str], str]
MARKS = {"kill": ("✗", "31"), "cure": ("↻", "32"), "save": ("◆", "36"), "end": ("●", "1;32"), "note": ("·", "2")}

_HEAD = Text(en="    time   rank  what happened", zh="    时间   rank  事件")
_ENDED = Text(
    en="exit code {code}, step {step}, {checkpoints} checkpoints, {seconds:.0f} s",
    zh="退出码 {code}，第 {step} 步，{checkpoints} 个检查点，{seconds:.0f} 秒",
)
_DISTURBED = Text(
    en="disturbed:   {ended}, {kills} workers killed", zh="受干扰：  {ended}，杀死 {kills} 个数据加载进程"
)
_UNDISTURBED = Text(en="undisturbed: {ended}", zh="未受干扰：{ended}")
_LOSSES = Text(en="losses of all {steps} steps {compared}", zh="损失（共 {steps} 步）{compared}")
_ADAPTER = Text(en="final adapter {compared}", zh="最终 adapter {compared}")
_IDENTICAL = Text(en="identical, bit for bit", zh="逐位相同")
_DIFFER = Text(en="DIFFER", zh="不一致")
_MISSED = Text(en="no worker could be killed at: {occasions}", zh="以下时机未能杀死数据加载进程：{occasions}")
_DISTURBED_OUTPUT = Text(en="The end of what the disturbed run showed:", zh="受干扰的运行最后的输出：")
_UNDISTURBED_OUTPUT = Text(en="The end of what the undisturbed run showed:", zh="未受干扰的运行最后的输出：")


def write_demonstration_lines(
    shown: Demonstration, language: Language = Language.ENGLISH, *, is_colourful: bool = False
) -> list[str]:
    """Write the timeline and the comparison."""

    def paint(text: str, colour: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if is_colourful else text

    lines = ["", paint(_HEAD.say(language), "2")]
    lines += [_moment_line(moment, language, paint) for moment in shown.moments]
    lines += ["", *(_claim_line(holds=holds, words=text.say(language), paint=paint) for holds, text in _claims(shown))]
    return [*lines, *_output_lines(shown, language), ""]


def list_demonstration_values(shown: Demonstration, language: Language = Language.ENGLISH) -> dict[str, Any]:
    """Give the demonstration as plain values for JSON."""
    return {
        "proven": shown.is_proven,
        "kills": len(shown.kills),
        "missed": [occasion.say(language) for occasion in shown.missed],
        "same_losses": shown.has_same_losses,
        "same_adapter": shown.has_same_adapter,
        "disturbed": _run_values(shown.disturbed, shown.disturbed_seconds),
        "undisturbed": _run_values(shown.undisturbed, shown.undisturbed_seconds),
        "timeline": [_moment_values(moment, language) for moment in shown.moments],
    }


def _run_values(run: SupervisedRun, seconds: float) -> dict[str, Any]:
    trained = run.trained
    return {
        "exit_code": run.exit_code,
        "steps": trained.steps,
        "checkpoints": list(trained.checkpoints),
        "last_loss": trained.losses[-1] if trained.losses else None,
        "seconds": round(seconds, 1),
        "report": run.report,
    }


def _moment_values(moment: Moment, language: Language) -> dict[str, Any]:
    text = moment.text.say(language)
    return {"seconds": round(moment.seconds, 3), "rank": moment.rank, "mark": moment.mark, "text": text}


def _moment_line(moment: Moment, language: Language, paint: Paint) -> str:
    sign, colour = MARKS[moment.mark]
    rank = " " if moment.rank is None else str(moment.rank)
    return f"  {moment.seconds:5.1f} s   {rank:>3}   {paint(sign, colour)} {moment.text.say(language)}"


def _claims(shown: Demonstration) -> Iterator[tuple[bool, Text]]:
    disturbed, undisturbed = shown.disturbed, shown.undisturbed
    ended, ended_too = _ended(disturbed, shown.disturbed_seconds), _ended(undisturbed, shown.undisturbed_seconds)
    yield disturbed.exit_code == 0, _DISTURBED.fill(ended=ended, kills=len(shown.kills))
    yield undisturbed.exit_code == 0, _UNDISTURBED.fill(ended=ended_too)
    losses, adapter = shown.has_same_losses, shown.has_same_adapter
    yield losses, _LOSSES.fill(steps=disturbed.trained.steps, compared=_IDENTICAL if losses else _DIFFER)
    yield adapter, _ADAPTER.fill(compared=_IDENTICAL if adapter else _DIFFER)
    if shown.missed:
        yield False, _MISSED.fill(occasions=join_texts(shown.missed, ", "))


def _claim_line(*, holds: bool, words: str, paint: Paint) -> str:
    return f"  {paint('✓', '1;32') if holds else paint('✗', '1;31')} {words}"


def _output_lines(shown: Demonstration, language: Language) -> Iterator[str]:
    for title, run in ((_DISTURBED_OUTPUT, shown.disturbed), (_UNDISTURBED_OUTPUT, shown.undisturbed)):
        if run.exit_code != 0:
            yield f"\n  {title.say(language)}"
            yield from (f"    {text}" for text in run.output.splitlines()[-12:])


def _ended(run: SupervisedRun, seconds: float) -> Text:
    trained = run.trained
    checkpoints = len(trained.checkpoints)
    return _ENDED.fill(code=run.exit_code, step=trained.steps, checkpoints=checkpoints, seconds=seconds)
