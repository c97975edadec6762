"""What if gradient checkpointing enters the graph a second time?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.CHECKPOINTING_OPTIONS: '{"use_reentrant": false}'})


CHANGE = Change(name="non_reentrant_checkpointing", remedy_class="identical", apply=apply)
