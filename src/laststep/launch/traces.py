"""Which shared memory is this run's own, and has to be removed when its processes are gone?"""

import json
import os

from laststep.host.processes import find_descendants
from laststep.host.shared_memory import find_mapped_segments, list_python_segments, remove_segments
from laststep_guard import wire

_LOOKS_AT_A_SEGMENT = 3  # reading memory maps costs the trainer a lock, so a foreign segment is looked at this often
_MOST_PIDS = 50_000


class Traces:
    """Collects the processes of a run while they live."""

    def __init__(self, holder_pid: int, events_dir: str | None, started_at: float) -> None:
        self._holder_pid = holder_pid
        self._events_dir = events_dir
        self._started_at = started_at
        self._pids: dict[int, None] = {}  # in the order they were seen
        self._looks = dict.fromkeys(list_python_segments(), 0)  # what is there before the run is not of the run
        self._mine: set[str] = set()

    def add(self, pid: int) -> None:
        self._pids[pid] = None
        if len(self._pids) > _MOST_PIDS:
            self._pids = dict.fromkeys(list(self._pids)[_MOST_PIDS // 2 :])

    def look(self) -> None:
        """Take note of the processes there are, and of the unnamed segments they have mapped."""
        living = [process.pid for process in find_descendants(self._holder_pid)]
        for pid in living:
            self.add(pid)
        new = {name for name in list_python_segments() if self._looks.get(name, _LOOKS_AT_A_SEGMENT) > 0}
        if new:
            self._mine |= find_mapped_segments(living, new)
        for name in new:
            self._looks[name] = self._looks.get(name, _LOOKS_AT_A_SEGMENT) - 1

    def remove(self) -> list[str]:
        """Remove the segments that the run's dead processes left; gives their names."""
        workers = _read_worker_pids(self._events_dir)
        return remove_segments(self._pids.keys() | workers, self._mine, not_before=self._started_at)


def _read_worker_pids(events_dir: str | None) -> set[int]:
    """Read the pids of all loader workers from the guards' events: a worker may live and die between two looks."""
    if events_dir is None:
        return set()
    pids: set[int] = set()
    try:
        for name in os.listdir(events_dir):
            with open(os.path.join(events_dir, name), "rb") as file:
                for line in file:
                    pids.update(_workers_of(line))
    except OSError:
        return pids
    return pids


def _workers_of(line: bytes) -> list[int]:
    if wire.EventKind.WORKERS_STARTED.encode() not in line:
        return []
    try:
        workers = json.loads(line)["workers"]
        return [int(pid) for pid in workers]
    except (ValueError, KeyError, TypeError):
        return []  # a torn last line
