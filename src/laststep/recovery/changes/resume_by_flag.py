"""What if a checkpoint was given as a model or an adapter, so that its training state is left alone?"""

import re

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change

_CHECKPOINT = re.compile(r"checkpoint-\d+/?$")


def apply(settings: Settings) -> Settings | None:
    adapters = settings.values.get(Setting.ADAPTERS)
    if adapters is None or not _CHECKPOINT.search(adapters):
        return None
    return settings.put({Setting.RESUME_FROM: adapters, Setting.ADAPTERS: None})


CHANGE = Change(name="resume_by_flag", remedy_class="identical", apply=apply)
