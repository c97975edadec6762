"""Which file does the first word of the command mean?"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from laststep.records.errors import CommandError
from laststep.records.outcome import ExitCode
from laststep.records.text import Text

_GONE = Text(en="`{name}` is not on PATH any more.", zh="`{name}` 已不在 PATH 中。")


def find_program(name: str, environment: Mapping[str, str], cwd: Path) -> str:
    """Find the file to execute; reading the command has already said what may be wrong with it."""
    if os.sep in name:
        return str(cwd / name)
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise CommandError(_GONE.fill(name=name), exit_code=ExitCode.NOT_FOUND)
    return str(cwd / found)  # PATH may hold relative folders
