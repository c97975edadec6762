"""What do the holder and its clients say to each other?

One message is one datagram of a SOCK_SEQPACKET socket: the first byte is its kind, the rest its content. So a message
is sent whole or not at all, and a signal handler may send one at any moment.
"""

import enum
import json
import socket
from dataclasses import dataclass
from typing import Any

LARGEST_CONTENT_BYTES = 32 * 1024


class Kind(enum.IntEnum):
    """What a message is about."""

    # From the holder.
    OUTPUT_TERMINAL = 1
    OUTPUT_STDOUT = 2
    OUTPUT_STDERR = 3
    NOTICE = 5
    ENDED = 6
    # From a client.
    INPUT = 10
    WINDOW = 11
    STOP = 12
    SAVE = 13


@dataclass(frozen=True, slots=True)
class Message:
    """One message, read."""

    kind: Kind
    content: bytes = b""

    @property
    def values(self) -> dict[str, Any]:
        loaded = json.loads(self.content)
        return loaded if isinstance(loaded, dict) else {}


def pack(kind: Kind, content: bytes = b"", **values: Any) -> bytes:
    """Write a message with bytes, or with values as JSON."""
    return bytes((kind,)) + (content or (json.dumps(values).encode() if values else b""))


def unpack(data: bytes) -> Message:
    return Message(Kind(data[0]), data[1:])


def make_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def receive(connection: socket.socket) -> Message | None:
    """Receive one message; None when the other side is gone. Raises BlockingIOError when nothing waits."""
    try:
        data = connection.recv(LARGEST_CONTENT_BYTES * 2)
    except ConnectionError:
        return None
    return unpack(data) if data else None
