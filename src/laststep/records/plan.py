"""What does a command mean to do?"""

from dataclasses import dataclass, field

from laststep.records.arguments import ProgramArguments
from laststep.records.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A command as the checks see it."""

    settings: Settings = field(default_factory=Settings)
    output_dir: str | None = None  # None: the command does not say
    programs: tuple[ProgramArguments, ...] = ()  # launchers and trainer, as far as their arguments could be judged
