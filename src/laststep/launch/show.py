"""How does the command's output reach our own streams, and what is typed the command?"""

import os
import select

from laststep.launch.messages import Kind, Message


class Showing:
    """Writes the command's bytes to our streams. A reader that is gone stops its stream, not the run."""

    def __init__(self, screen: int | None) -> None:
        self._targets: dict[Kind, int | None] = {
            Kind.OUTPUT_TERMINAL: screen if screen is not None else 1,
            Kind.OUTPUT_STDOUT: 1,
            Kind.OUTPUT_STDERR: 2,
        }
        self._ends_in_line: dict[int, bool] = {}

    def show(self, message: Message) -> bool:
        """Write one piece of output; False when its stream was found gone just now."""
        target = self._targets[message.kind]
        if target is None:
            return True
        try:
            _write_all(target, message.content)
        except OSError:  # a closed pipe, a terminal that hung up, a full disk
            self._targets[message.kind] = None
            return False
        self._ends_in_line[target] = message.content.endswith((b"\n", b"\r"))
        return True

    @property
    def is_within_line(self) -> bool:
        """Tell whether what was shown last on a terminal has left a line open."""
        return not all(ended for fd, ended in self._ends_in_line.items() if os.isatty(fd))


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:  # somebody who shares the stream made it so
            select.select((), (fd,), ())
