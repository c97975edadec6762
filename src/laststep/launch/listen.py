"""Where can somebody attach to the run?"""

import contextlib
import os
import socket
import struct
import tempfile
from collections.abc import Iterator

_LONGEST_PATH_BYTES = 107  # sun_path without its final zero


class Listener:
    """A socket for clients of the same user. Where none can be made, nobody can attach, and the run goes on."""

    def __init__(self, wanted_path: str | None) -> None:
        self.socket: socket.socket | None = None
        self.path: str | None = None
        self._private_folder: str | None = None
        for path in self._places(wanted_path):
            try:
                self.socket = _bind(path)
            except OSError:
                continue
            self.path = path
            return

    def accept(self) -> socket.socket | None:
        """Accept a client; None when it went away or belongs to somebody else."""
        assert self.socket is not None  # noqa: S101  # only called when it is readable
        try:
            connection, _ = self.socket.accept()
        except OSError:
            return None
        if _peer_uid(connection) in (0, os.getuid()):
            return connection
        connection.close()
        return None

    def close(self) -> None:
        if self.socket is None or self.path is None:
            return
        self.socket.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        if self._private_folder is not None:
            with contextlib.suppress(OSError):
                os.rmdir(self._private_folder)

    def _places(self, wanted_path: str | None) -> Iterator[str]:
        """Give places to try: the run folder (too long a path? a file system without sockets?), then short ones."""
        if wanted_path is None:
            return
        if len(os.fsencode(wanted_path)) <= _LONGEST_PATH_BYTES:
            yield wanted_path
        for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
            if parent is None:
                continue
            with contextlib.suppress(OSError):
                self._private_folder = tempfile.mkdtemp(prefix="laststep-", dir=parent)
                yield os.path.join(self._private_folder, "socket")
                os.rmdir(self._private_folder)
                self._private_folder = None


def _bind(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listening.bind(path)
        os.chmod(path, 0o600)
        listening.listen(8)
    except OSError:
        listening.close()
        raise
    return listening


def _peer_uid(connection: socket.socket) -> int:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])
