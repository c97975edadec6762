"""What if the logits of an evaluation do not fit?"""

from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.change import Change


def apply(settings: Settings) -> Settings | None:
    return settings.put({Setting.EVAL_MICRO_BATCH: "1", Setting.LOSS_ONLY: "true"})


CHANGE = Change(name="evaluate_loss_alone", remedy_class="equivalent", apply=apply)
