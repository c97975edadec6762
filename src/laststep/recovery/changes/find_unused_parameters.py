"""What if some parameters take no part in a step?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.UNUSED_PARAMETERS: "true"})


CHANGE = Change(name="find_unused_parameters", remedy_class="identical", apply=apply)
