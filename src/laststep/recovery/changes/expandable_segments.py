"""What if GPU memory is there, but in pieces? (PyTorch, CUDA semantics, "Optimizing memory usage")"""

from laststep.records.settings import Settings
from laststep.recovery.changes.change import Change

_VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"


def apply(settings: Settings) -> Settings | None:
    options = [option for option in settings.environment.get(_VARIABLE, "").split(",") if option.strip()]
    others = [option for option in options if not option.strip().startswith("expandable_segments")]
    return settings.put_variables({_VARIABLE: ",".join([*others, "expandable_segments:True"])})


CHANGE = Change(name="expandable_segments", remedy_class="identical", apply=apply)
