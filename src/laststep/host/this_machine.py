"""The machine that laststep runs on, asked."""

import errno
import os
import socket

from laststep.host.machine import Place, Space

_SHARED_MEMORY = "/dev/shm"  # noqa: S108  # the kernel's shared memory, not a temporary file of ours
_INODES_UNKNOWN = 0  # of a file system that counts none, as btrfs and many network ones


class ThisMachine:
    """Answers from the operating system; None where it has no such thing."""

    def look_at(self, path: str) -> Place | None:
        """Look at where a folder is, or would be made."""
        place = os.path.abspath(path)
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        try:
            return Place(
                path=place,
                is_writable=os.access(place, os.W_OK | os.X_OK) and not _is_read_only(place),
                is_folder=os.path.isdir(place),
                space=_read_space(place),
            )
        except OSError:
            return None

    def read_shared_memory(self) -> Space | None:
        """Read the size of `/dev/shm`."""
        return _read_space(_SHARED_MEMORY)

    def read_open_files_limit(self) -> int | None:
        """Read how many files a process may hold open; -1 of the system is no limit."""
        try:
            import resource  # noqa: PLC0415  # other systems have none
        except ModuleNotFoundError:
            return None
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return limit if limit != resource.RLIM_INFINITY else None

    def is_port_free(self, port: int) -> bool | None:
        """Say whether a program can listen on a port, by listening on it for a moment."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as torch's store does
            try:
                listener.bind(("", port))
            except OSError as error:
                return False if error.errno == errno.EADDRINUSE else None
        return True


def _is_read_only(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) if hasattr(os, "statvfs") else False


def _read_space(path: str) -> Space | None:
    if not hasattr(os, "statvfs"):
        return None
    try:
        room = os.statvfs(path)
    except OSError:
        return None
    inodes = room.f_favail if room.f_files != _INODES_UNKNOWN else None
    return Space(room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize, inodes)
