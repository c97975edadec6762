"""What happens when somebody is slow to take the output?

The training never waits for a client: one that falls behind gets the rest from the log later. What could not be logged
(no log, a full disk) waits in memory; beyond what memory is set aside, the client is told how much is missing.
"""

import collections
import socket
from dataclasses import dataclass

from laststep.launch.messages import LARGEST_CONTENT_BYTES, Kind, pack
from laststep.launch.output import OutputLog

_QUEUE_BYTES = 2 * 1024 * 1024  # kept in memory for a slow client
_UNLOGGED_BYTES = 64 * 1024 * 1024  # the same for what the log did not take: it stands nowhere else
_MOST_SPANS = 100_000  # of the log owed to one client; more are left out


@dataclass(slots=True)
class _Span:
    """Output that a client has not got yet: where it stands in the log, or itself; with neither it is lost."""

    kind: Kind
    begin: int | None
    length: int
    data: bytes | None = None


class ClientFeed:
    """What one client still has to get, in order."""

    def __init__(self, connection: socket.socket, log: OutputLog) -> None:
        self.connection = connection
        self._log = log
        self._queue: collections.deque[bytes] = collections.deque()
        self._queued_bytes = 0
        self._owed: collections.deque[_Span] = collections.deque()
        self._unlogged_bytes = 0
        self._last_word: bytes | None = None

    @property
    def is_waiting(self) -> bool:
        """True while something is left to send."""
        return bool(self._queue or self._owed or self._last_word)

    def offer_output(self, kind: Kind, data: bytes, begin: int | None) -> None:
        """Take output that stands in the log at `begin` (None: nowhere)."""
        if not self._owed and self._queued_bytes + len(data) <= _QUEUE_BYTES:
            self._push(pack(kind, data))
        else:
            self._owe(kind, data, begin)

    def offer(self, message: bytes) -> None:
        """Take a message of the holder itself. It may overtake output that the client is still owed."""
        self._push(message)

    def offer_last(self, message: bytes) -> None:
        """Take the message that comes after everything else."""
        self._last_word = message

    def pump(self) -> bool:
        """Send what the client takes now; False when it is gone."""
        try:
            while self.is_waiting:
                if not self._queue:
                    self._catch_up()
                self.connection.send(self._queue[0], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                self._queued_bytes -= len(self._queue.popleft())
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _push(self, message: bytes) -> None:
        self._queue.append(message)
        self._queued_bytes += len(message)

    def _owe(self, kind: Kind, data: bytes, begin: int | None) -> None:
        has_room = len(self._owed) < _MOST_SPANS
        if begin is None and has_room and self._unlogged_bytes + len(data) <= _UNLOGGED_BYTES:
            self._unlogged_bytes += len(data)
            self._owed.append(_Span(kind, None, len(data), data))
            return
        last = self._owed[-1] if self._owed else None
        span = _Span(kind, begin if has_room else None, len(data))
        if last is not None and _continues(last, span):
            last.length += span.length
        else:
            self._owed.append(span)

    def _catch_up(self) -> None:
        if not self._owed:
            self._push(self._last_word or b"")
            self._last_word = None
            return
        span = self._owed[0]
        if span.data is not None:
            self._owed.popleft()
            self._unlogged_bytes -= span.length
            self._push(pack(span.kind, span.data))
            return
        data = self._log.read(span.begin, min(span.length, LARGEST_CONTENT_BYTES)) if span.begin is not None else b""
        if span.begin is None or not data:
            self._owed.popleft()
            self._push(pack(Kind.NOTICE, about="left_out", left_out_bytes=span.length))
            return
        self._push(pack(span.kind, data))
        span.begin += len(data)
        span.length -= len(data)
        if span.length == 0:
            self._owed.popleft()


def _continues(last: _Span, span: _Span) -> bool:
    if last.begin is None or span.begin is None:
        return last.begin is None and span.begin is None and last.data is None
    return last.kind is span.kind and last.begin + last.length == span.begin
