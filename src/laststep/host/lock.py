"""Is somebody else at it already?

A lock on a file of the run, which the kernel takes back when its holder ends, however it ends.
"""

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where no run is supervised
    fcntl = None  # type: ignore[assignment]  # told apart where it is used


class Lock:
    """A lock that is held until it is let go, or the process ends."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def take_lock(path: Path) -> Lock | None:
    """Take a lock; None while somebody else has it. Where nothing can be locked nobody is kept out."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return Lock(None)
    if fcntl is None:
        return Lock(fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:  # a file system without locks
        pass
    return Lock(fd)


def is_locked(path: Path) -> bool:
    """Tell whether somebody has the lock."""
    if not path.exists():
        return False
    lock = take_lock(path)
    if lock is None:
        return True
    lock.let_go()
    return False
