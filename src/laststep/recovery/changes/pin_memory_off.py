"""What if the limit on locked memory is reached?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.PIN_MEMORY: "false"})


CHANGE = Change(name="pin_memory_off", remedy_class="identical", apply=apply)
