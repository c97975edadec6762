"""What if rows are longer than the limit?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    length = settings.read_number(Setting.MAX_LENGTH)
    return settings.put({Setting.MAX_LENGTH: str(length * 2)}) if length is not None else None


CHANGE = Change(name="double_length", remedy_class="altering", apply=apply)
