"""How does the guard get into every Python of the command?

Python imports `sitecustomize` at its start, from the first folder of PYTHONPATH that has one. Ours lies alone in a
folder, so that nothing else of laststep can shadow a library of the training.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import laststep_guard
from laststep_guard import wire
from laststep_guard.settings import Settings, write_settings


def inject_guard(environment: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Give the environment with the guard in it. Nothing else changes."""
    injected = dict(environment)
    injected["PYTHONPATH"] = os.pathsep.join([str(inject_folder()), *_user_path(environment)])
    injected[wire.ENVIRONMENT] = write_settings(settings)
    return injected


def take_out_guard(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the environment as it was before the guard was put into it."""
    plain = {name: value for name, value in environment.items() if name != wire.ENVIRONMENT}
    first, _, rest = plain.get("PYTHONPATH", "").partition(os.pathsep)
    if first == str(inject_folder()):
        plain["PYTHONPATH"] = rest
        if not rest:
            del plain["PYTHONPATH"]
    return plain


def inject_folder() -> Path:
    return Path(laststep_guard.__file__).resolve().parent / "inject"


def find_switch_off(argv: Sequence[str]) -> str | None:
    """Find the Python option in a command that keeps the guard out (-I, -E, -S); None when there is none."""
    for position, word in enumerate(argv):
        if not Path(word).name.startswith("python"):
            continue
        for option in argv[position + 1 :]:
            if not option.startswith("-") or option in {"-m", "-c", "-"}:
                break
            if not option.startswith("--") and set("IES") & set(option[1:]):
                return option
    return None


def _user_path(environment: Mapping[str, str]) -> list[str]:
    # An empty part means the current folder to Python, so what the user had is kept as it was.
    return [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
