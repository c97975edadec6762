"""What if GPUs cannot reach each other's memory? (NCCL's environment variables)"""

from laststep.records.settings import Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put_variables({"NCCL_P2P_DISABLE": "1"})


CHANGE = Change(name="nccl_p2p_off", remedy_class="identical", apply=apply)
