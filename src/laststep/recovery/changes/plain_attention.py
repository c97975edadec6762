"""What if an attention kernel yields NaN?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.ATTENTION: "sdpa"})


CHANGE = Change(name="plain_attention", remedy_class="equivalent", apply=apply)
