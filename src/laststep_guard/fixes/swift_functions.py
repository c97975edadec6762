"""Which functions of ms-swift do the fixes rely on, and which bodies of them are known?

A body is known by its fingerprint (`patches.fingerprint`). `scripts/fingerprints` prints those of any release, for the
day on which a new one has to be added here. The values name the releases that a body was looked up in.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any, Callable, Dict, Optional

from laststep_guard import patches
from laststep_guard.fixes.fix import Declined


@dataclass(frozen=True)
class HostFunction:
    """A method of ms-swift whose body a fix relies on."""

    module_name: str
    class_name: str
    name: str
    known: Dict[str, str]  # fingerprint -> releases

    def recognise(self, module: Optional[ModuleType]) -> ModuleType:
        """Give the module back when it holds a body that is known; raise `Declined` otherwise."""
        where = f"{self.module_name}.{self.class_name}.{self.name}"
        if module is None:
            raise Declined(f"{where} was not imported")
        try:
            function: Callable[..., Any] = getattr(getattr(module, self.class_name), self.name)
            seen = patches.fingerprint(function)
        except (AttributeError, OSError, TypeError, SyntaxError) as error:
            raise Declined(f"{where} could not be read: {error}") from error
        if seen not in self.known:
            raise Declined(f"{where} has a body that is not known (fingerprint {seen})")
        return module


COLLATOR = HostFunction(
    "swift.template.base",
    "Template",
    "_reranker_data_collator",
    known={
        "8469adca8468eda0": "4.0.0, 4.0.1, 4.0.4, 4.1.0, 4.1.3, 4.2.1, 4.2.3",  # draws with the worker's `random`
        "f1e1a562a2451263": "4.3.1, 4.4.1, 4.5.1, 4.5.3, 4.6.0",  # draws with a RandomState kept on the template
    },
)
COMPUTE_LOSS = HostFunction(
    "swift.trainers.reranker_trainer",
    "RerankerTrainer",
    "compute_loss",
    known={
        "fb169586560800f2": "4.0.0, 4.0.1, 4.0.4, 4.1.0, 4.1.3, 4.2.1, 4.2.3, 4.3.1, 4.4.1, 4.5.1, 4.5.3",
        "ba5c0676309c67d8": "4.6.0",
    },
)
ENCODER = HostFunction(
    "swift.template.base",
    "Template",
    "_reranker_encode",
    known={"96a079a563f85120": "4.0.0, 4.6.0"},
)
