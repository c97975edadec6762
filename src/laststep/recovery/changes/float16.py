"""What if the GPU has no bfloat16?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.FLOAT16: "true", Setting.BFLOAT16: "false"})


CHANGE = Change(name="float16", remedy_class="altering", apply=apply)
