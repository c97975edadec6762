"""Is the program of the command there, and if not, what was probably meant?"""

import difflib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

LAUNCHERS = ("swift", "torchrun", "accelerate", "deepspeed", "llamafactory-cli", "axolotl", "python", "python3", "bash")


def find_program_problem(program: str, *, cwd: Path, search_path: str) -> str | None:
    """Say what is wrong with the program of a command; None when it can be started."""
    if not program:
        return "The name of the program is empty. Name it after `--`: laststep run -- swift sft …"
    if "/" in program:
        return _path_problem(program, cwd / program)
    if shutil.which(program, path=search_path):
        return None
    if (cwd / program).is_file():
        return f"`{program}` is not on PATH, but a file of this folder. Write ./{program} to run it."
    return f"`{program}` is not on PATH. {_advice(program, search_path)}"


def _path_problem(program: str, path: Path) -> str | None:
    if path.is_dir():
        return f"{program} is a folder, not a program."
    if not path.exists():
        return f"{program} does not exist."
    if not os.access(path, os.X_OK):
        hint = f"run it with its interpreter: python {program}" if path.suffix == ".py" else f"chmod +x {program}"
        return f"{program} is not executable: {hint}"
    return None


def _advice(program: str, search_path: str) -> str:
    if program in LAUNCHERS:
        return "Activate the environment it is installed in, or give its full path."
    close = difflib.get_close_matches(program, {*LAUNCHERS, *_programs(search_path)}, n=5, cutoff=0.7)
    # Launchers of trainings first: they are what people put behind laststep.
    close.sort(key=lambda name: name not in LAUNCHERS)
    if not close:
        return "Check the spelling, or activate the environment it is installed in."
    if shutil.which(close[0], path=search_path):
        return f"Did you mean `{close[0]}`?"
    return f"Did you mean `{close[0]}`? That is not on PATH either; activate the environment it is installed in."


def _programs(search_path: str) -> Iterator[str]:
    for folder in search_path.split(os.pathsep):
        if folder and Path(folder).is_dir():
            yield from (entry.name for entry in Path(folder).iterdir())
