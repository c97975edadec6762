"""Which file does the first word of the command mean?"""

import difflib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from laststep.records.errors import CommandError
from laststep.records.outcome import ExitCode


def find_program(name: str, environment: Mapping[str, str], cwd: Path) -> str:
    """Find the file to execute. Raises CommandError with 127 or 126, as a shell would give."""
    search_path = environment.get("PATH", os.defpath)
    if os.sep in name:
        return _check_file(name, cwd / name)
    found = shutil.which(name, path=search_path)
    if found is not None:
        return str(cwd / found)  # PATH may hold relative folders
    raise CommandError(_not_found(name, search_path, cwd), exit_code=ExitCode.NOT_FOUND)


def _check_file(name: str, path: Path) -> str:
    if not path.exists():
        raise CommandError(f"There is no file {name}. Check the path; relative ones start at {path.parent}.", exit_code=ExitCode.NOT_FOUND)
    if path.is_dir():
        raise CommandError(f"{name} is a folder and cannot be executed.", exit_code=ExitCode.NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        raise CommandError(f"{name} is not executable. Make it so with: chmod +x {name}", exit_code=ExitCode.NOT_EXECUTABLE)
    return str(path)


def _not_found(name: str, search_path: str, cwd: Path) -> str:
    message = f"There is no command “{name}” on PATH."
    if (cwd / name).is_file():
        return f"{message} A file of that name is here; run it as ./{name}"
    similar = difflib.get_close_matches(name, _list_programs(search_path), n=3, cutoff=0.75)
    if similar:
        return f"{message} Similar: {', '.join(similar)}."
    return f"{message} Activate the environment that has it, or give its full path."


def _list_programs(search_path: str) -> set[str]:
    names: set[str] = set()
    for folder in search_path.split(os.pathsep):
        try:
            names.update(os.listdir(folder or "."))
        except OSError:
            continue
    return names
