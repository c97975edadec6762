"""What do the beats of the other ranks on this machine say?"""

import os
import time
from typing import List, Optional

from laststep_guard import wire

_TRIES = 1000  # a beat that is read while it is written is torn; its writer may have lost the processor just then
_PAUSE_SECONDS = 0.002


class Peers:
    """The ranks of this world, all of them on this machine."""

    def __init__(self, beats_dir: Optional[str], world_size: int) -> None:
        self._beats_dir = beats_dir or ""
        self._world_size = world_size

    def read(self) -> List[wire.Beat]:
        """Read the beats of all ranks, our own included. Raises OSError."""
        return [self._read_one(os.path.join(self._beats_dir, wire.beat_name(rank))) for rank in range(self._world_size)]

    def _read_one(self, path: str) -> wire.Beat:
        for _ in range(_TRIES):
            with open(path, "rb") as file:
                beat = wire.read_beat(file.read(wire.BEAT_BYTES))
            if beat is not None:
                return beat
            time.sleep(_PAUSE_SECONDS)
        raise OSError(f"{path} is no beat")


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that has ended and was not yet collected does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False
