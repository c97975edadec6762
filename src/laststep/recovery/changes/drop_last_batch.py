"""What if ranks get different numbers of batches?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.DROP_LAST: "true"})


CHANGE = Change(name="drop_last_batch", remedy_class="equivalent", apply=apply)
