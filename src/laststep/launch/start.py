"""How does a holder come to life?"""

import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import laststep
from laststep.launch.messages import make_pair
from laststep.launch.orders import Orders, write_orders

# -I and -S: nothing of the user's Python set-up runs in the holder. The folder comes last, so that nothing beside
# laststep can shadow the standard library.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from laststep.launch.holder import main; main()"


_LEAVES_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class StartedHolder:
    """A holder of our own, and the line to it."""

    process: "subprocess.Popen[bytes]"
    connection: socket.socket

    def let_go(self) -> None:
        """Close the line, upon which the holder leaves, and see that it has."""
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_LEAVES_SECONDS)


def start_holder(orders: Orders, *, log_path: Path | None) -> StartedHolder:
    """Start a holder in a session of its own. It gets our stdin when that is for the command."""
    ours, theirs = make_pair()
    orders_fd = os.memfd_create("laststep-orders")
    with os.fdopen(orders_fd, "r+b") as file:
        file.write(write_orders(orders))
        file.flush()
        os.lseek(orders_fd, 0, os.SEEK_SET)
        process = _start(orders, log_path, theirs.fileno(), orders_fd)
    theirs.close()
    return StartedHolder(process, ours)


def _start(orders: Orders, log_path: Path | None, socket_fd: int, orders_fd: int) -> "subprocess.Popen[bytes]":
    root = Path(laststep.__file__).resolve().parent.parent
    words = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        _PROGRAM,
        str(root),
        "laststep-holder",
        orders.run_id,
        str(socket_fd),
        str(orders_fd),
    ]
    stdin = subprocess.DEVNULL if 0 in orders.terminal_fds else None
    with _open_log(log_path) as log:
        return subprocess.Popen(
            words,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=(socket_fd, orders_fd),
            start_new_session=True,
        )


def _open_log(path: Path | None) -> BinaryIO:
    try:
        return (path or Path(os.devnull)).open("ab")
    except OSError:
        return Path(os.devnull).open("ab")
