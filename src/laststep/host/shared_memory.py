"""Which segments of shared memory did dead processes leave behind?

A loader worker that is killed cannot unlink what it had in flight. torch writes its pid into the name; Python's
`multiprocessing` does not, so those count as a run's own only when one of its processes had them mapped.
"""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # the kernel's shared memory, not a temporary file of ours

_TORCH = re.compile(r"torch_(\d+)_")
_PYTHON_PREFIXES = ("psm_", "sem.")


def list_python_segments(folder: Path = SHARED_MEMORY) -> set[str]:
    """Name the segments whose creator the name does not tell."""
    return {name for name in _list_names(folder) if name.startswith(_PYTHON_PREFIXES)}


def find_mapped_segments(pids: Iterable[int], names: set[str], folder: Path = SHARED_MEMORY) -> set[str]:
    """Find which of the named segments some of the processes have mapped."""
    paths = {str(folder / name): name for name in names}
    found: set[str] = set()
    for pid in pids:
        found.update(_mapped_by(pid, paths))
    return found


def remove_segments(
    creator_pids: set[int], names: set[str], *, not_before: float, folder: Path = SHARED_MEMORY
) -> list[str]:
    """Remove what dead processes of a run left: torch segments by creator, others by name. Gives the names removed."""
    removed = []
    for name in _list_names(folder):
        if name not in names and not _is_torch_segment_of(name, creator_pids):
            continue
        if _is_ours(folder / name, not_before):
            (folder / name).unlink(missing_ok=True)
            removed.append(name)
    return removed


def _is_torch_segment_of(name: str, creator_pids: set[int]) -> bool:
    match = _TORCH.match(name)
    # A pid that lives again belongs to somebody else now.
    return match is not None and int(match[1]) in creator_pids and not Path(f"/proc/{match[1]}").exists()


def _is_ours(path: Path, not_before: float) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    # Containers can share /dev/shm without sharing pids: a segment from before the run is not of the run.
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and status.st_mtime >= not_before - 1


def _list_names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _mapped_by(pid: int, paths: dict[str, str]) -> set[str]:
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            mapped = {line[line.find("/") :].rstrip("\n") for line in file if str(SHARED_MEMORY) in line}
    except OSError:
        return set()
    return {name for path, name in paths.items() if path in mapped}
