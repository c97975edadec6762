"""What if checkpoints lie on one node, and others look for them?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.SAVE_ON_EACH_NODE: "true"})


CHANGE = Change(name="save_on_each_node", remedy_class="identical", apply=apply)
