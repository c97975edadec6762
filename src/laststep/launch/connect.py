"""How does a client speak with the holder?"""

import contextlib
import socket

from laststep.launch.messages import Kind, pack
from laststep.records.ending import StopManner


def connect(path: str) -> socket.socket | None:
    """Connect to a holder; None when it does not listen any more."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


class HolderLine:
    """A client's line to the holder. Sending never fails: a holder that is gone shows when receiving."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def stop(self, manner: StopManner) -> None:
        self._send(pack(Kind.STOP, manner=manner.value))

    def save(self) -> None:
        self._send(pack(Kind.SAVE))

    def type_in(self, data: bytes) -> None:
        self._send(pack(Kind.INPUT, data))

    def resize(self, rows: int, columns: int) -> None:
        self._send(pack(Kind.WINDOW, rows=rows, columns=columns))

    def _send(self, message: bytes) -> None:
        with contextlib.suppress(OSError):
            self.connection.send(message, socket.MSG_NOSIGNAL)
