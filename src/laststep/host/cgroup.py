"""What has the memory cgroup of this process counted: kills, the peak, the limit?

cgroup v2 keeps them in memory.events, memory.peak (Linux 5.19) and memory.max, v1 in memory.oom_control (Linux 4.13),
memory.max_usage_in_bytes and memory.limit_in_bytes: docs.kernel.org/admin-guide, cgroup-v2 and cgroup-v1/memory.
"""

import os
from dataclasses import dataclass

_UNLIMITED = 1 << 60  # v1 says "no limit" with a number near 2**63
_NAMES = (
    ("memory.events", "memory.peak", "memory.max"),
    ("memory.oom_control", "memory.max_usage_in_bytes", "memory.limit_in_bytes"),
)


@dataclass(frozen=True, slots=True)
class CgroupCounts:
    """What a memory cgroup has counted since it was made; None where the kernel does not say."""

    oom_kills: int | None = None
    peak_bytes: int | None = None
    limit_bytes: int | None = None


def read_counts(root: str = "/") -> CgroupCounts:
    """Read the counts of the cgroup of this process. Holds no file open, raises nothing."""
    for folder in _list_folders(root):
        for events, peak, limit in _NAMES:
            text = _read(os.path.join(folder, events))
            if text is not None:
                most = _read_number(os.path.join(folder, limit))
                return CgroupCounts(
                    _find_kills(text),
                    _read_number(os.path.join(folder, peak)),
                    most if most is not None and most < _UNLIMITED else None,
                )
    return CgroupCounts()


def _list_folders(root: str) -> list[str]:
    """List where the memory cgroup of this process may be seen: under its own path, else mounted at the top."""
    folders = []
    for line in (_read(os.path.join(root, "proc/self/cgroup")) or "").splitlines():
        hierarchy, controllers, path = [*line.split(":", 2), "", ""][:3]
        if "memory" in controllers.split(","):
            top = os.path.join(root, "sys/fs/cgroup/memory")
        elif hierarchy == "0":
            top = os.path.join(root, "sys/fs/cgroup")
        else:
            continue
        folders += [os.path.join(top, path.lstrip("/")), top]
    return folders


def _find_kills(text: str) -> int | None:
    for line in text.splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill" and count.strip().isdecimal():
            return int(count)
    return None


def _read_number(path: str) -> int | None:
    text = (_read(path) or "").strip()
    return int(text) if text.isdecimal() else None


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError:
        return None
