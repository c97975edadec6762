"""Why can a training of several ranks on a CPU not be resumed?

accelerate (1.12) gives each rank the device `cpu:0`, transformers hands that to `torch.load` as the place for the
optimiser, and torch knows `cpu` alone and raises. Nothing but a resume ever loads to that place.

torch lets others say how a place is restored. So `cpu:0` is, as what it is: the CPU.
"""

from types import ModuleType
from typing import Any, List

from laststep_guard.fixes.fix import Declined, Fix
from laststep_guard.guardian import Guardian
from laststep_guard.wire import EventKind

NAME = "torch-cpu-index"
_AFTER_TORCHS_OWN = 60  # those of torch ask first, with up to 40-odd


def apply(module: ModuleType, guardian: Guardian) -> str:
    """Teach torch the place. `module` is `torch.serialization`. It is told only once something was loaded there."""
    if not hasattr(module, "register_package"):
        raise Declined("this torch has no register_package")
    told: List[str] = []

    def restore(storage: Any, location: str) -> Any:
        if not location.startswith("cpu:"):
            return None
        if not told:
            told.append(location)
            guardian.emit(
                EventKind.FIX_APPLIED, name=NAME, detail=f"{location} is the cpu", **{"class": FIX.remedy_class}
            )
        return storage

    module.register_package(_AFTER_TORCHS_OWN, lambda _storage: None, restore)
    return ""


FIX = Fix(
    name=NAME,
    defect="A training of several ranks on a CPU cannot be resumed: torch.load does not know the place cpu:0",
    seen_on=("torch 2.14.1", "transformers 4.57.6", "accelerate 1.12.0"),
    remedy_class="identical",
    after_import="torch.serialization",
    apply=apply,
)
