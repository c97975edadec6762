"""How does the command get its session, its terminal and its pipes?"""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
from dataclasses import dataclass
from typing import NoReturn

from laststep.launch.orders import Orders

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """The command's process and our ends of its streams."""

    pid: int
    terminal: int | None = None
    slave: int | None = None  # kept open, or the terminal would hang up whenever no program has it open
    stdout: int | None = None
    stderr: int | None = None


class _Ends:
    """Both ends of every stream: ours, and what the command gets for 0, 1 and 2."""

    def __init__(self, orders: Orders) -> None:
        self.terminal: int | None = None
        self.slave: int | None = None
        self.pipes: dict[int, int] = {}
        self.theirs: dict[int, int] = {}
        if orders.terminal_fds:
            self.terminal, self.slave = pty.openpty()
            prepare_terminal(self.slave, orders.rows, orders.columns)
            self.theirs.update(dict.fromkeys(orders.terminal_fds, self.slave))
        for fd in (_STDOUT, _STDERR):
            if fd in self.theirs:
                continue
            if fd == _STDERR and orders.shares_output and _STDOUT in self.pipes:
                self.theirs[fd] = self.theirs[_STDOUT]
            else:
                self.pipes[fd], self.theirs[fd] = os.pipe()

    def close_theirs(self) -> None:
        for fd in set(self.theirs.values()) - {self.slave}:
            os.close(fd)


def spawn(orders: Orders) -> Spawned:
    """Start the command in a session of its own. Raises OSError when it cannot be executed."""
    ends = _Ends(orders)
    failure_read, failure_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(orders, ends, failure_write)
    os.close(failure_write)
    ends.close_theirs()
    with os.fdopen(failure_read, "rb") as file:
        failure = file.read()
    if failure:
        os.waitpid(pid, 0)
        number = int(failure)
        raise OSError(number, os.strerror(number), orders.argv[0])
    _release_stdin()
    return Spawned(
        pid=pid,
        terminal=ends.terminal,
        slave=ends.slave,
        stdout=ends.pipes.get(_STDOUT),
        stderr=ends.pipes.get(_STDERR),
    )


def prepare_terminal(fd: int, rows: int, columns: int) -> None:
    """Set the size, and leave line ends to the user's own terminal, so that the log holds what was written."""
    attributes = termios.tcgetattr(fd)
    attributes[1] &= ~termios.OPOST
    attributes[0] |= getattr(termios, "IUTF8", 0x4000)  # erase whole characters; unnamed before 3.14
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    set_window(fd, rows, columns)


def set_window(fd: int, rows: int, columns: int) -> None:
    """Set a terminal's size; the kernel tells its programs."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _release_stdin() -> None:
    """Let go of the input we passed on: whoever writes to it shall see when the command closes it."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, _STDIN)
    os.close(null)


def _become(orders: Orders, ends: _Ends, failure: int) -> NoReturn:
    """Turn the forked child into the command; never returns."""
    try:
        os.setsid()
        _place_streams(ends)
        if ends.terminal is not None:
            fcntl.ioctl(orders.terminal_fds[0], termios.TIOCSCTTY, 0)
        _restore_signals(orders.ignored_signals)
        os.chdir(orders.cwd)
        os.execve(orders.program, orders.argv, orders.environment)
    except OSError as error:
        os.write(failure, str(error.errno).encode())
    finally:
        os._exit(127)


def _place_streams(ends: _Ends) -> None:
    for fd, source in ends.theirs.items():
        # The holder was started with 0, 1 and 2 open, so no source lies there.
        os.dup2(source, fd, inheritable=True)


def _restore_signals(ignored: tuple[int, ...]) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        action = signal.SIG_IGN if number in ignored else signal.SIG_DFL
        with contextlib.suppress(OSError, ValueError):  # some real-time signals belong to the C library
            signal.signal(number, action)
