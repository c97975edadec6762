"""What did the user ask to be run?"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Command:
    """A command as typed."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)  # the assignments of the text, not the whole environment
    source: str = ""
    background: bool = False
