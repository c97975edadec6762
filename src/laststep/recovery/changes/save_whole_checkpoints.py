"""What if a checkpoint holds weights and no training state?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.MODEL_ONLY: "false"})


CHANGE = Change(name="save_whole_checkpoints", remedy_class="identical", apply=apply)
