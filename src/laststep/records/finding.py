"""What does a check say before the launch?"""

import enum
from dataclasses import dataclass

from laststep.records.text import Text


class Severity(enum.Enum):
    """How bad a finding is."""

    BLOCKER = "blocker"  # the run will fail
    WARNING = "warning"  # it may, or it costs something
    UNKNOWN = "unknown"  # it could not be told: never a pass
    OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found."""

    check: str
    severity: Severity
    summary: Text
    detail: Text | None = None  # what was seen, with numbers
    fix: Text | None = None  # what to do
    change: str | None = None  # the name of a change that makes the command do it
    cured_by: tuple[str, ...] = ()  # guards and fixes under which it does no harm
