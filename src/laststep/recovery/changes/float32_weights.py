"""What if the trained weights are kept in float16?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.WEIGHT_TYPE: "float32"})


CHANGE = Change(name="float32_weights", remedy_class="equivalent", apply=apply)
