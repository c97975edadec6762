"""What is a check?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from laststep.host.machine import Machine
from laststep.records.finding import Finding
from laststep.records.plan import Plan
from laststep.records.text import Text


@dataclass(frozen=True, slots=True)
class Check:
    """One question. `look` gives nothing where all is well."""

    name: str
    passed: Text  # what is said where all is well
    look: Callable[[Plan, Machine], Iterable[Finding]]
