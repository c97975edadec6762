"""What if rows are longer than the model may see?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.TRUNCATION: "delete"})


CHANGE = Change(name="delete_long_rows", remedy_class="altering", apply=apply)
