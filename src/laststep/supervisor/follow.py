"""How is a run shown and listened to until it ends?"""

import contextlib
import os
import selectors
from collections.abc import Callable
from typing import Any

from laststep.launch.connect import HolderLine
from laststep.launch.messages import Kind, Message, receive
from laststep.launch.show import Showing
from laststep.launch.streams import Streams
from laststep.launch.terminal import Terminal, read_window
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.interrupts import Interrupts
from laststep.supervisor.notices import word_notice

_STDIN = 0
_LOOK_SECONDS = 0.5  # between looks whether the terminal is ours; `fg` need not send a signal
_OUTPUT = (Kind.OUTPUT_TERMINAL, Kind.OUTPUT_STDOUT, Kind.OUTPUT_STDERR)
_READER_GONE = Text(
    en="nobody reads this stream of the output any more; the run goes on, and Ctrl-C still stops it",
    zh="此输出流已无人读取；运行继续，按 Ctrl-C 仍可停止",
)


class _Follower:
    def __init__(self, line: HolderLine, streams: Streams, console: Console) -> None:
        self._line = line
        self._console = console
        self._showing = Showing(streams.screen)
        self._selector = selectors.DefaultSelector()
        self._selector.register(line.connection, selectors.EVENT_READ)
        self.terminal = Terminal(_STDIN) if _STDIN in streams.terminal_fds else None

    def follow(self) -> dict[str, Any] | None:
        while True:
            self._look_at_terminal()
            for key, _ in self._selector.select(_LOOK_SECONDS):
                if key.fd == _STDIN:
                    self._read_keys()
                    continue
                message = receive(self._line.connection)
                if message is None:
                    return None
                if message.kind is Kind.ENDED:
                    return message.values
                self._take(message)

    def _take(self, message: Message) -> None:
        if message.kind in _OUTPUT:
            if not self._showing.show(message):
                self._say(_READER_GONE)
        elif message.kind is Kind.NOTICE:
            self._say(word_notice(message.values))

    def _say(self, text: Text) -> None:
        self._console.say(text, within_line=self._showing.is_within_line)

    def _look_at_terminal(self) -> None:
        """Take the terminal when it is ours, and listen to it only then."""
        if self.terminal is None:
            return
        self.terminal.take()
        listens = _STDIN in self._selector.get_map()
        if self.terminal.is_taken and self.terminal.is_ours():
            if not listens:
                self._selector.register(_STDIN, selectors.EVENT_READ)
        elif listens:
            self._selector.unregister(_STDIN)

    def _read_keys(self) -> None:
        data = b""
        with contextlib.suppress(OSError):  # EIO: in the background, or the terminal has hung up
            data = os.read(_STDIN, 1024)
        if data:
            self._line.type_in(data)
        else:
            self._selector.unregister(_STDIN)
            self.terminal = None if not os.isatty(_STDIN) else self.terminal


def follow(line: HolderLine, *, streams: Streams, console: Console, begin: Callable[[], None]) -> dict[str, Any] | None:
    """Show a run until it ends. Gives the holder's last word, or None when the holder was killed. Raises Left.

    `begin` is called when signals are listened to, so that a Ctrl-C never falls between the start and us.
    """
    follower = _Follower(line, streams, console)
    terminal = follower.terminal
    with Interrupts(line, terminal, streams.screen):
        try:
            begin()
            if streams.screen is not None:
                line.resize(*read_window(streams.screen))
            return follower.follow()
        finally:
            if terminal is not None:
                terminal.give_back()
