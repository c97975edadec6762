"""What are our own stdin, stdout and stderr, and so, what shall the command's be?"""

import os
import signal
from dataclasses import dataclass

from laststep.launch.terminal import read_window

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """How our streams look. `screen` is the terminal that the command's terminal output is shown on."""

    terminal_fds: tuple[int, ...]
    screen: int | None
    shares_output: bool
    rows: int
    columns: int


def look_at_streams() -> Streams:
    """Look which of our streams are terminals.

    stdin becomes part of the pseudo-terminal only together with stdout: in `laststep run … | less` the keys are for
    less, and a command that wants to read them can do so itself.
    """
    terminals = [fd for fd in (_STDOUT, _STDERR) if os.isatty(fd)]
    screen = terminals[0] if terminals else None
    if _STDOUT in terminals and os.isatty(_STDIN):
        terminals.insert(0, _STDIN)
    rows, columns = read_window(screen) if screen is not None else (24, 80)
    return Streams(
        terminal_fds=tuple(terminals),
        screen=screen,
        shares_output=_is_same_file(_STDOUT, _STDERR),
        rows=rows,
        columns=columns,
    )


def list_ignored_signals() -> tuple[int, ...]:
    """List the signals that were switched off for us, as `nohup` and background jobs of scripts do."""
    # Python itself ignores these two at its start, so what we inherited cannot be known.
    own = {signal.SIGPIPE, signal.SIGXFSZ}
    return tuple(
        int(number) for number in sorted(signal.valid_signals() - own) if signal.getsignal(number) is signal.SIG_IGN
    )


def _is_same_file(first: int, second: int) -> bool:
    one, other = os.fstat(first), os.fstat(second)
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
