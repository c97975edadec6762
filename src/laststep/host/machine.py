"""What can a machine be asked before a launch?"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Space:
    """Room of a file system, in bytes and entries; None where it does not say."""

    total_bytes: int
    free_bytes: int
    free_inodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder that is to be written to, or the nearest one above it that is there."""

    path: str
    is_writable: bool
    is_folder: bool
    space: Space | None


class Machine(Protocol):
    """The questions. Each answers None where it cannot be told."""

    def look_at(self, path: str) -> Place | None:
        """Look at where a folder is, or would be made."""

    def read_shared_memory(self) -> Space | None:
        """Read the size of `/dev/shm`."""

    def read_open_files_limit(self) -> int | None:
        """Read how many files a process may hold open."""

    def is_port_free(self, port: int) -> bool | None:
        """Say whether a program can listen on a port."""
