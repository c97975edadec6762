"""How much memory is left, and which limit is the nearest?

The limit is the lowest of the cgroup's (v1 or v2, of all ancestors that can be seen), the host's and `/dev/shm`'s. Page
cache counts as free, since the kernel gives it up before it kills; shared memory does not.
"""

import os
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

_UNLIMITED = 1 << 60  # cgroup v1 says "no limit" with a number near 2**63
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class MemoryReading:
    """What is left at one moment, in bytes."""

    free_bytes: int  # before the nearest limit
    limit: str  # which: cgroup or host
    limit_bytes: int
    shm_free_bytes: int


class MemoryReader:
    """Reads what is left for this process. The places to look are found once."""

    def __init__(self, *, root: str = "/", shm: str = "/dev/shm") -> None:  # noqa: S108  # where torch puts its batches
        self._root = root
        self._shm = shm
        self._groups = _find_groups(root)

    def read(self) -> Optional[MemoryReading]:
        """Read what is left; None where nothing can be read."""
        lefts: List[Tuple[int, str, int]] = []
        host = _read_table(os.path.join(self._root, "proc/meminfo"))
        if "MemAvailable:" in host:
            lefts.append((host["MemAvailable:"] * 1024, "host", host.get("MemTotal:", 0) * 1024))
        for group in self._groups:
            left = group.left()
            if left is not None:
                lefts.append((left[0], "cgroup", left[1]))
        if not lefts:
            return None
        free, limit, limit_bytes = min(lefts)
        return MemoryReading(max(0, free), limit, limit_bytes, self._shm_free())

    def read_kills(self) -> int:
        """Read how many processes of this group the kernel has killed for memory; 0 where it doesn't count them."""
        if not self._groups:
            return 0
        folder = self._groups[0].folder
        return max(
            _read_table(os.path.join(folder, name)).get("oom_kill", 0)
            for name in ("memory.events", "memory.oom_control")
        )

    def _shm_free(self) -> int:
        try:
            place = os.statvfs(self._shm)
        except OSError:
            return _UNLIMITED
        return place.f_bavail * place.f_frsize


@dataclass(frozen=True)
class _Group:
    folder: str
    limit_name: str
    usage_name: str
    cache_names: Tuple[str, ...]  # entries of memory.stat that the kernel gives up under pressure

    def left(self) -> Optional[Tuple[int, int]]:
        """Give (bytes left, limit); None without a limit."""
        limit = _read_number(os.path.join(self.folder, self.limit_name))
        usage = _read_number(os.path.join(self.folder, self.usage_name))
        if limit is None or usage is None or limit >= _UNLIMITED:
            return None
        stat = _read_table(os.path.join(self.folder, "memory.stat"))
        cache = sum(stat.get(name, 0) for name in self.cache_names)
        return limit - max(0, usage - cache), limit


def _find_groups(root: str) -> List[_Group]:
    """Find the memory cgroups of this process, from its own up to the root; those that can't be seen are left out."""
    groups: List[_Group] = []
    try:
        with open(os.path.join(root, "proc/self/cgroup"), encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return groups
    for line in lines:
        hierarchy, controllers, path = [*line.split(":", 2), "", ""][:3]
        names: Tuple[str, str, Tuple[str, ...]]
        if "memory" in controllers.split(","):
            top = os.path.join(root, "sys/fs/cgroup/memory")
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))
        elif hierarchy == "0":
            top = os.path.join(root, "sys/fs/cgroup")
            names = ("memory.max", "memory.current", ("inactive_file", "active_file", "slab_reclaimable"))
        else:
            continue
        groups.extend(
            _Group(folder, *names) for folder in _ancestors(top, path) if os.path.exists(os.path.join(folder, names[1]))
        )
    return groups


def _ancestors(top: str, path: str) -> List[str]:
    # In a container the path may be the host's, and the group itself is mounted at the top.
    parts = [part for part in path.split("/") if part not in ("", "..")]
    return [os.path.join(top, *parts[:depth]) for depth in range(len(parts), -1, -1)]


def read_own_bytes(statm: str = "/proc/self/statm") -> int:
    """Read the private memory of this process: resident without what it shares."""
    try:
        with open(statm, "rb") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[2])) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def read_peak_bytes(status: str = "/proc/self/status") -> int:
    """Read the highest resident size of this process since it began or `reset_peak`."""
    return _read_table(status).get("VmHWM:", 0) * 1024


def reset_peak(clear_refs: str = "/proc/self/clear_refs") -> bool:
    """Let the highest resident size start from now (proc(5), value 5); False where that isn't allowed."""
    try:
        with open(clear_refs, "wb", buffering=0) as file:
            file.write(b"5")
    except OSError:
        return False
    return True


def _read_number(path: str) -> Optional[int]:
    try:
        with open(path, "rb") as file:
            text = file.read().strip()
        return _UNLIMITED if text == b"max" else int(text)
    except (OSError, ValueError):
        return None


def _read_table(path: str) -> Dict[str, int]:
    table: Dict[str, int] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) >= 2 and words[1].isdigit():  # a name and a number
                    table[words[0]] = int(words[1])
    except OSError:
        pass
    return table
