"""What is a change?"""

from collections.abc import Callable
from dataclasses import dataclass

from laststep.records.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a command. `apply` gives the new settings; None where there is nothing that it could change."""

    name: str
    remedy_class: str  # one of wire.REMEDY_CLASSES
    apply: Callable[[Settings], Settings | None]
