"""Is the data still what it was when the run began?"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

_SAMPLE_BYTES = 1024 * 1024
_LONGEST_NAME = 4096  # characters; a longer word is no path


def sample_inputs(argv: Sequence[str], start_folder: Path) -> dict[str, str]:
    """Take a sample of each file that a command names: its size, its first and its last megabyte."""
    names = {word.partition("=")[2] or word for word in argv[1:]}
    samples = {
        name: _sample(start_folder / name.partition("#")[0]) for name in sorted(names) if len(name) < _LONGEST_NAME
    }
    return {name: sample for name, sample in samples.items() if sample is not None}


def _sample(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.blake2b(file.read(_SAMPLE_BYTES), digest_size=16)
            file.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(file.read(_SAMPLE_BYTES))
    except (OSError, ValueError):
        return None  # a folder, a name on a hub, an option
    return f"{size}:{digest.hexdigest()}"
