"""What if values leave the range of half precision?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.BFLOAT16: "true", Setting.FLOAT16: "false"})


CHANGE = Change(name="bfloat16", remedy_class="equivalent", apply=apply)
