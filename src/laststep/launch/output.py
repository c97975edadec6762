"""Where is the command's output kept, and what happens when the disk is full?"""

import contextlib
import os

from laststep.host.clock import Clock

_RETRY_SECONDS = 5.0


class OutputLog:
    """A file that takes the output as long as it can, and says what it could not take."""

    def __init__(self, path: str | None, clock: Clock, *, appends: bool = True) -> None:
        self._path = path
        self._flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | (0 if appends else os.O_TRUNC)
        self._clock = clock
        self._fd: int | None = None
        self._retry_at = 0.0
        self.length = 0
        self.dropped_bytes = 0
        self.problem: str | None = None

    def add(self, data: bytes) -> int | None:
        """Append data; gives where it begins in the log, or None when it was not taken whole."""
        if self._path is None or (self.problem and self._clock.monotonic() < self._retry_at):
            self.dropped_bytes += len(data) if self._path else 0
            return None
        begin = self.length
        try:
            self._write(data)
        except OSError as error:
            self.dropped_bytes += len(data) - (self.length - begin)
            self.problem = error.strerror or str(error)
            self._retry_at = self._clock.monotonic() + _RETRY_SECONDS
            return None
        self.problem = None
        return begin

    def read(self, begin: int, length: int) -> bytes:
        """Read back what was added; empty when the file is gone."""
        if self._fd is None:
            return b""
        with contextlib.suppress(OSError):
            return os.pread(self._fd, length, begin)
        return b""

    def _write(self, data: bytes) -> None:
        if self._fd is None:
            assert self._path is not None  # noqa: S101  # checked by the caller
            self._fd = os.open(self._path, self._flags, 0o600)
            self.length = os.fstat(self._fd).st_size
        rest = memoryview(data)
        while rest:
            written = os.write(self._fd, rest)
            self.length += written
            rest = rest[written:]
