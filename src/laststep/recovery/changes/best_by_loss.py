"""What if the metric that chooses the best model is never computed?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.BEST_METRIC: "loss", Setting.IS_GREATER_BETTER: "false"})


CHANGE = Change(name="best_by_loss", remedy_class="identical", apply=apply)
