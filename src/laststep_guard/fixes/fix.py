"""What is a fix?

One file with one `FIX`, and one line in `catalog.py`.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Callable, Optional, Tuple

from laststep_guard.guardian import Guardian


class Declined(Exception):  # noqa: N818  # an answer, not an error
    """The code is not the code this fix knows; the message says what differs. Raised before anything was changed."""


@dataclass(frozen=True)
class Fix:
    """A patch for one defect of one framework.

    `apply(module, guardian)` runs once, after the host has imported `after_import`; it patches through
    `guardian.patches` alone, raises `Declined` when a fingerprint is not known, and returns one line on what it did, or
    nothing where that shows only later.
    """

    name: str
    defect: str  # what goes wrong, one sentence
    seen_on: Tuple[str, ...]  # "ms-swift 4.0.0", …
    remedy_class: str  # one of wire.REMEDY_CLASSES
    after_import: str  # name of the module
    apply: Callable[[ModuleType, Guardian], str]
    # What a loader worker with an interpreter of its own needs of it: after which import, and the part to apply.
    in_workers: Optional[Tuple[str, Callable[[ModuleType, Guardian], str]]] = None
    # Reports the defect also where the fix is not wanted; called as `apply` is.
    notice: Optional[Callable[[ModuleType, Guardian], str]] = None
