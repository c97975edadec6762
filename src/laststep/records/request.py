"""What did the user ask of `laststep run`?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from laststep.records.command import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A command, and how to run it."""

    command: Command
    cwd: Path
    home: Path
    environment: Mapping[str, str]  # what the command gets, its own assignments included
    guards_off: tuple[str, ...] = ()
    fixes_off: tuple[str, ...] = ()
    allow: str = "equivalent"  # the strongest class of change applied without being asked for
    grace_seconds: float = 30.0
    takes_up: Path | None = None  # the folder of the run to go on with; None: that of this command, if any
    is_fresh: bool = False  # begin at step 0, also where a run was broken off

    @property
    def start_folder(self) -> Path:
        """Where the command is started: the text of a command may say `cd` first."""
        return self.cwd / (self.command.working_directory or "")
