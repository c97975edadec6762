"""What if a run ends before a checkpoint was ever due?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_USUAL = 500  # steps between saves where nothing is said


def apply(settings: Settings) -> Settings | None:
    steps, most = settings.read_number(Setting.SAVE_STEPS), settings.read_number(Setting.MAX_STEPS)
    every = max(1, min(steps or _USUAL, most or _USUAL) // 10)
    return settings.put({Setting.SAVE_STRATEGY: "steps", Setting.SAVE_STEPS: str(every)})


CHANGE = Change(name="save_often", remedy_class="identical", apply=apply)
