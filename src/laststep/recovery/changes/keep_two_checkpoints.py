"""What if checkpoints fill the disk?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_KEPT = 2  # the last one, and the one that it is not worse than


def apply(settings: Settings) -> Settings | None:
    kept = settings.read_number(Setting.CHECKPOINTS_KEPT)
    return None if kept is not None and kept <= _KEPT else settings.put({Setting.CHECKPOINTS_KEPT: str(_KEPT)})


CHANGE = Change(name="keep_two_checkpoints", remedy_class="identical", apply=apply)
