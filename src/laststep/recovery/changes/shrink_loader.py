"""What if workers that load data take more memory than there is?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    workers = settings.read_number(Setting.LOADER_WORKERS)
    if workers is None or workers < 2:
        return settings.put({Setting.LOADER_WORKERS: "0", Setting.PREFETCH: None}) if workers else None
    return settings.put({Setting.LOADER_WORKERS: str(workers // 2), Setting.PREFETCH: "1"})


CHANGE = Change(name="shrink_loader", remedy_class="identical", apply=apply)
