"""What if a step does not fit, and the effective batch is to stay what it is?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    micro_batch, accumulation = settings.read_number(Setting.MICRO_BATCH), settings.read_number(Setting.ACCUMULATION)
    if micro_batch is None or micro_batch < 2 or accumulation is None:
        return None
    smaller = next(share for share in range(micro_batch // 2, 0, -1) if micro_batch % share == 0)
    more = accumulation * (micro_batch // smaller)
    return settings.put({Setting.MICRO_BATCH: str(smaller), Setting.ACCUMULATION: str(more)})


CHANGE = Change(name="halve_micro_batch", remedy_class="equivalent", apply=apply)
