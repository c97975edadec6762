"""Who is looking at the run, and what do they get?"""

import selectors
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any

from laststep.launch.client_feed import ClientFeed
from laststep.launch.messages import Kind, Message, pack, receive
from laststep.launch.output import OutputLog


class Clients:
    """Everybody who is connected. They come and go; none can hold up the run."""

    def __init__(self, selector: selectors.BaseSelector, log: OutputLog, obey: Callable[[Message], None]) -> None:
        self._selector = selector
        self._log = log
        self._obey = obey
        self._feeds: dict[int, ClientFeed] = {}
        self._last_word: bytes | None = None

    @property
    def are_gone(self) -> bool:
        return not self._feeds

    def add(self, connection: socket.socket, greeting: Sequence[bytes] = ()) -> None:
        """Take a client in; it gets a greeting, all output from now on, and the last word."""
        connection.setblocking(False)
        feed = ClientFeed(connection, self._log)
        self._feeds[connection.fileno()] = feed
        self._selector.register(connection.fileno(), selectors.EVENT_READ, self._on_client)
        for message in greeting:
            feed.offer(message)
        if self._last_word is not None:
            feed.offer_last(self._last_word)
        self._pump(feed)

    def offer_output(self, kind: Kind, data: bytes, begin: int | None) -> None:
        """Pass on output that stands in the log at `begin` (None: nowhere)."""
        for feed in list(self._feeds.values()):
            feed.offer_output(kind, data, begin)
            self._pump(feed)

    def tell(self, **values: Any) -> None:
        """Let everybody know something."""
        for feed in list(self._feeds.values()):
            feed.offer(pack(Kind.NOTICE, **values))
            self._pump(feed)

    def finish(self, last_word: bytes) -> None:
        """Say the last word, to those who are here and those who come yet."""
        self._last_word = last_word
        for feed in list(self._feeds.values()):
            feed.offer_last(last_word)
            self._pump(feed)

    def _on_client(self, fd: int, mask: int) -> None:
        feed = self._feeds[fd]
        if mask & selectors.EVENT_WRITE:
            self._pump(feed)
        if mask & selectors.EVENT_READ and fd in self._feeds:
            self._listen(feed)

    def _listen(self, feed: ClientFeed) -> None:
        try:
            message = receive(feed.connection)
            if message is None:
                self._drop(feed)
            else:
                self._obey(message)
        except BlockingIOError:
            return
        except (ValueError, KeyError, TypeError, struct.error):
            self._drop(feed)  # it speaks another version of the language; the run must not suffer for that

    def _pump(self, feed: ClientFeed) -> None:
        if not feed.pump():
            self._drop(feed)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if feed.is_waiting else 0)
        self._selector.modify(feed.connection.fileno(), events, self._on_client)

    def _drop(self, feed: ClientFeed) -> None:
        fd = feed.connection.fileno()
        self._selector.unregister(fd)
        del self._feeds[fd]
        feed.connection.close()
