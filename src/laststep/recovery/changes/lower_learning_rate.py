"""What if the loss runs away?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_TIMES = 5


def apply(settings: Settings) -> Settings | None:
    try:
        rate = float(settings.values.get(Setting.LEARNING_RATE) or "")
    except ValueError:
        return None
    return settings.put({Setting.LEARNING_RATE: f"{rate / _TIMES:.3g}"})


CHANGE = Change(name="lower_learning_rate", remedy_class="altering", apply=apply)
