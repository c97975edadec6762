"""Does the command save what a resume needs, and before it ends?"""

from collections.abc import Iterator

from laststep.host.machine import Machine
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.settings import Setting
from laststep.records.text import Text

NAME = "resumable"
_PASSED = Text(en="what is saved can be resumed from", zh="保存的内容可用于续训")
_WEIGHTS_ALONE = Text(
    en="Checkpoints will hold weights alone: no run can be resumed from them", zh="检查点只含权重：无法从中续训"
)
_SAVE_WHOLE = Text(en="Leave save_only_model out", zh="去掉 save_only_model")
_NEVER = Text(en="Nothing will be saved before the end", zh="结束之前不会保存任何检查点")
_STRATEGY = Text(en="save_strategy is no", zh="save_strategy 为 no")
_INTERVAL = Text(
    en="a save is due every {every} steps, and there are {most}", zh="每 {every} 步保存一次，而总共只有 {most} 步"
)
_SAVE_OFTEN = Text(
    en="Save well within the run (save_strategy steps, save_steps)",
    zh="请在训练过程中保存（save_strategy steps、save_steps）",
)


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report checkpoints that nothing can go on from, and runs that make none."""
    del machine  # the command tells
    settings = plan.settings
    every, most = settings.read_number(Setting.SAVE_STEPS), settings.read_number(Setting.MAX_STEPS)
    if settings.is_on(Setting.MODEL_ONLY):
        yield _warn(_WEIGHTS_ALONE, _SAVE_WHOLE, "save_whole_checkpoints")
    if settings.read_word(Setting.SAVE_STRATEGY) == "no":
        yield _warn(_NEVER, _SAVE_OFTEN, "save_often", _STRATEGY)
    elif every and most and every > most:
        yield _warn(_NEVER, _SAVE_OFTEN, "save_often", _INTERVAL.fill(every=every, most=most))


def _warn(summary: Text, fix: Text, change: str, detail: Text | None = None) -> Finding:
    return Finding(check=NAME, severity=Severity.WARNING, summary=summary, detail=detail, fix=fix, change=change)


CHECK = Check(NAME, _PASSED, look)
