"""What if traffic over InfiniBand or RoCE fails? (NCCL's environment variables)"""

from laststep.records.settings import Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put_variables({"NCCL_IB_DISABLE": "1"})


CHANGE = Change(name="nccl_ib_off", remedy_class="identical", apply=apply)
