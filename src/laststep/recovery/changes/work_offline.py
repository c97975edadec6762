"""What if a hub cannot be reached, and everything is in the cache?"""

from laststep.records.settings import Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put_variables({"HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline"})


CHANGE = Change(name="work_offline", remedy_class="identical", apply=apply)
