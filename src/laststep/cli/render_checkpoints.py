"""How do checkpoints look?"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from laststep.checkpoints.prune import Pruning
from laststep.cli import render
from laststep.records.checkpoint import CheckedCheckpoint, Problem, Soundness
from laststep.records.text import Language, Text

Paint = Callable[[str, str], str]
MOST_PROBLEMS = 12  # of one checkpoint; JSON has them all
_STATES = {
    Soundness.SOUND: (Text(en="sound", zh="完好"), "32"),
    Soundness.UNSOUND: (Text(en="NOT SOUND", zh="不可用"), "1;31"),
    Soundness.UNKNOWN: (Text(en="unknown", zh="无法判断"), "33"),
}
_SEALED = Text(en="sound, sealed", zh="完好，已封存")
_PROBLEM = Text(en="{file} {words}", zh="{file} {words}")
_WHOLE = Text(en="the checkpoint", zh="检查点")
_MORE = Text(en="and {count} more", zh="另有 {count} 个问题")
_FURTHER = Text(
    en="{count} older checkpoints were not looked at; --limit says how many are",
    zh="另有 {count} 个较早的检查点未查看；可用 --limit 指定查看的数量",
)
_WOULD_GO = Text(en="would be removed:", zh="将被删除：")
_GONE = Text(en="removed:", zh="已删除：")
_STAY = Text(en="stay:", zh="保留：")
_NOTHING = Text(en="(none)", zh="（无）")
_FREED = Text(
    en="{size} in {count} checkpoints. Add --yes to remove them.",
    zh="{count} 个检查点，共 {size}。加上 --yes 才会删除。",
)


def show_checked(checked: Sequence[CheckedCheckpoint], language: Language, *, as_json: bool, further: int = 0) -> None:
    """Show checkpoints with their problems; of further ones, only how many there are."""
    if further:
        render.StderrConsole(language).say(_FURTHER.fill(count=further))
    if as_json:
        render.show_values({"checkpoints": [list_values(one, language) for one in checked]})
    else:
        render.show_lines(lambda is_colourful: list(_lines(checked, language, _painter(is_colourful=is_colourful))))


def show_pruning(plan: Pruning, language: Language, *, as_json: bool, is_done: bool) -> None:
    """Show what goes and what stays."""
    if as_json:
        removed, kept = ([list_values(one, language) for one in side] for side in (plan.removed, plan.kept))
        render.show_values({"removed": removed, "kept": kept, "done": is_done})
    else:
        render.show_lines(
            lambda is_colourful: list(
                _pruning_lines(plan, language, _painter(is_colourful=is_colourful), is_done=is_done)
            )
        )


def list_values(one: CheckedCheckpoint, language: Language) -> dict[str, Any]:
    """Give a checkpoint as plain values for JSON."""
    return {
        "path": one.path,
        "step": one.step,
        "sound": {Soundness.SOUND: True, Soundness.UNSOUND: False}.get(one.soundness),
        "sealed": one.is_sealed,
        "problems": [_say(problem, language) for problem in one.problems],
    }


def _lines(checked: Sequence[CheckedCheckpoint], language: Language, paint: Paint) -> Iterator[str]:
    for one in checked:
        words, colour = _STATES[one.soundness]
        state = (_SEALED if one.is_sealed else words).say(language)
        yield f"{paint(state, colour)}  {_step(one):>8}  {_size(one.size_bytes):>9}  {one.path}"
        for problem in one.problems[:MOST_PROBLEMS]:
            yield f"    {_say(problem, language)}"
        if len(one.problems) > MOST_PROBLEMS:
            yield f"    {_MORE.fill(count=len(one.problems) - MOST_PROBLEMS).say(language)}"


def _pruning_lines(plan: Pruning, language: Language, paint: Paint, *, is_done: bool) -> Iterator[str]:
    for title, side in ((_GONE if is_done else _WOULD_GO, plan.removed), (_STAY, plan.kept)):
        yield title.say(language)
        yield from (f"  {line}" for line in _lines(side, language, paint))
        if not side:
            yield f"  {_NOTHING.say(language)}"
    if plan.removed and not is_done:
        yield _FREED.fill(size=_size(plan.freed_bytes), count=len(plan.removed)).say(language)


def _say(problem: Problem, language: Language) -> str:
    return _PROBLEM.fill(file=problem.file or _WHOLE, words=problem.words).say(language)


def _step(one: CheckedCheckpoint) -> str:
    return "?" if one.step is None else str(one.step)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _painter(*, is_colourful: bool) -> Paint:
    return lambda text, colour: f"\x1b[{colour}m{text}\x1b[0m" if is_colourful else text
