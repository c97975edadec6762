"""What if activations do not fit into the memory of the GPU?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.CHECKPOINTING: "true"})


CHANGE = Change(name="gradient_checkpointing", remedy_class="equivalent", apply=apply)
