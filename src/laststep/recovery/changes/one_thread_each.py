"""What if every worker starts a pool of threads over all cores?"""

from laststep.records.settings import Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put_variables({"OMP_NUM_THREADS": "1"})


CHANGE = Change(name="one_thread_each", remedy_class="identical", apply=apply)
