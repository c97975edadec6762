"""What if the processes that prepare a data set take more memory than there is?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    workers = settings.read_number(Setting.DATASET_WORKERS)
    if workers is None or workers < 2:
        return None
    return settings.put({Setting.DATASET_WORKERS: str(max(1, workers // 4))})


CHANGE = Change(name="fewer_dataset_workers", remedy_class="identical", apply=apply)
