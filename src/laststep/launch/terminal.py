"""Whose is the terminal, and how do keys get through it?

Keys pass to the command's own terminal unseen by ours, except those that make signals: Ctrl-C is for laststep. In the
background the terminal is somebody else's, and it is left alone.
"""

import contextlib
import fcntl
import os
import struct
import termios


class Terminal:
    """Our terminal, taken while we are in its foreground and given back as it was."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._saved: list[object] | None = None

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

    def give_back(self) -> None:
        """Restore the terminal, unless it is somebody else's now: then it has their settings."""
        if self._saved is None:
            return
        if self.is_ours():
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._saved)  # type: ignore[arg-type]  # as tcgetattr gave it
        self._saved = None


def read_window(fd: int) -> tuple[int, int]:
    """Read a terminal's rows and columns; 24 × 80 when it does not say."""
    try:
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8)))
    except OSError:
        return 24, 80
    return (rows, columns) if rows and columns else (24, 80)


def _let_keys_through(attributes: list[object]) -> list[object]:
    input_flags, local_flags, characters = attributes[0], attributes[3], attributes[6]
    assert isinstance(input_flags, int)  # noqa: S101  # for the type checker; this is termios' own list
    assert isinstance(local_flags, int)  # noqa: S101  # the same
    assert isinstance(characters, list)  # noqa: S101  # the same
    # Output processing stays: the command's terminal leaves line ends alone, so ours completes them, also for our own lines.
    attributes[0] = input_flags & ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
    attributes[3] = local_flags & ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    characters = list(characters)
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    attributes[6] = characters
    return attributes
