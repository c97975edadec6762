"""How does a holder come to life?"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import laststep
from laststep.launch.messages import make_pair
from laststep.launch.orders import Orders, write_orders

# -I and -S: nothing of the user's Python set-up runs in the holder. The folder comes last, so that nothing beside
# laststep can shadow the standard library.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from laststep.launch.holder import main; main()"


_LEAVES_SECONDS = 10.0


class Holder:
    """A holder of our own, and the line to it, which is there before the holder is."""

    def __init__(self, orders: Orders, *, log_path: Path | None) -> None:
        self.connection, self._theirs = make_pair()
        self._orders = orders
        self._log_path = log_path
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it in a session of its own. It gets our stdin when that is for the command."""
        orders_fd = os.memfd_create("laststep-orders")
        with os.fdopen(orders_fd, "r+b") as file, self._theirs, _open_log(self._log_path) as log:
            file.write(write_orders(self._orders))
            file.flush()
            os.lseek(orders_fd, 0, os.SEEK_SET)
            self._process = subprocess.Popen(
                self._words(orders_fd),
                stdin=subprocess.DEVNULL if 0 in self._orders.terminal_fds else None,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=(self._theirs.fileno(), orders_fd),
                start_new_session=True,
            )

    def let_go(self) -> None:
        """Close the line, upon which the holder leaves, and see that it has."""
        self.connection.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEAVES_SECONDS)

    def _words(self, orders_fd: int) -> list[str]:
        root = Path(laststep.__file__).resolve().parent.parent
        fds = [str(self._theirs.fileno()), str(orders_fd)]
        return [sys.executable, "-I", "-S", "-c", _PROGRAM, str(root), "laststep-holder", self._orders.run_id, *fds]


def _open_log(path: Path | None) -> BinaryIO:
    try:
        return (path or Path(os.devnull)).open("ab")
    except OSError:
        return Path(os.devnull).open("ab")
