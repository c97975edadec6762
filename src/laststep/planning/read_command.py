"""What command did the user mean?"""

from collections.abc import Sequence
from pathlib import Path

from laststep.records.command import Command
from laststep.records.errors import CommandError


def read_command(arguments: Sequence[str], *, cwd: Path) -> Command:
    """Read a command given as plain words."""
    if not arguments:
        raise CommandError(f"There is no command to run in {cwd}. Put one behind the dashes: laststep run -- swift sft …")
    return Command(argv=tuple(arguments), source=" ".join(arguments))
