"""Whose is the terminal, and how do keys get through it?

Keys pass to the command's own terminal unseen by ours, except those that make signals: Ctrl-C is for laststep. In the
background the terminal is somebody else's, and it is left alone.
"""

import contextlib
import fcntl
import os
import signal
import struct
import termios
from typing import Any


class Terminal:
    """Our terminal, taken while we are in its foreground and given back as it was."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._saved: list[Any] | None = None

    @property
    def is_taken(self) -> bool:
        return self._saved is not None

    def is_ours(self) -> bool:
        """Tell whether we are in the foreground, so that reading and setting it is allowed."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            # A terminal that does not control us (`setsid laststep run`) has no foreground of ours; only reading tells.
            return False

    def take(self) -> None:
        """Let keys through one by one, without echo: the command's terminal echoes them."""
        if self.is_taken or not self.is_ours():
            return
        with contextlib.suppress(termios.error):
            saved = termios.tcgetattr(self._fd)
            termios.tcsetattr(self._fd, termios.TCSADRAIN, _let_keys_through(list(saved)))
            self._saved = saved

    def pause(self) -> None:
        """Give the terminal back, pause this process as Ctrl-Z would, and go on when we are continued."""
        self.give_back()
        pause_ourselves()

    def give_back(self) -> None:
        """Restore the terminal, unless it is somebody else's now: then it has their settings."""
        if self._saved is None:
            return
        if self.is_ours():
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._saved)
        self._saved = None


def pause_ourselves() -> None:
    """Pause this process as Ctrl-Z would have without our handler; returns when it is continued."""
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)


def read_window(fd: int) -> tuple[int, int]:
    """Read a terminal's rows and columns; 24 by 80 when it does not say."""
    try:
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
    except OSError:
        return 24, 80
    return (rows, columns) if rows and columns else (24, 80)


def _let_keys_through(attributes: list[Any]) -> list[Any]:
    # Output processing stays: the command's terminal leaves line ends alone, so ours completes them, as for our lines.
    attributes[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
    attributes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    characters = list(attributes[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    attributes[6] = characters
    return attributes
