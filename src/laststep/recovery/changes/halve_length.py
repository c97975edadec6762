"""What if the longest rows do not fit?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    length = settings.read_number(Setting.MAX_LENGTH)
    return settings.put({Setting.MAX_LENGTH: str(length // 2)}) if length is not None and length > 1 else None


CHANGE = Change(name="halve_length", remedy_class="altering", apply=apply)
