"""Who keeps the run alive when everybody else has gone?

The holder: a small process in a session of its own. It owns the pseudo-terminal, the copy of the output, the orphans of
the run and its exit status. Clients come and go; only its own end ends the run. It imports little on purpose.
"""

import contextlib
import os
import selectors
import shutil
import signal
import socket
import sys
from typing import Any

from laststep.host.cgroup import CgroupCounts, read_counts
from laststep.host.clock import Clock, SystemClock
from laststep.host.processes import read_process
from laststep.launch.clients import Clients
from laststep.launch.listen import Listener
from laststep.launch.messages import LARGEST_CONTENT_BYTES, Kind, Message, pack
from laststep.launch.orders import Orders, read_orders
from laststep.launch.output import OutputLog
from laststep.launch.records_on_disk import write_json
from laststep.launch.spawn import Spawned, set_window, spawn
from laststep.launch.subreaper import become_subreaper
from laststep.launch.winding_down import WindingDown
from laststep.records.ending import Ending, ProcessEnd, StopManner, write_ending

_TAIL_BYTES = 2048  # of the output, for a client that attaches
_INPUT_BYTES = 1024 * 1024  # typed and not yet read by the command; more is dropped
_IGNORED = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTSTP,
    signal.SIGTTIN,
    signal.SIGTTOU,
    signal.SIGUSR2,
)


class Holder:
    """One run, held."""

    def __init__(self, orders: Orders, first_client: socket.socket, clock: Clock) -> None:
        self._orders = orders
        self._clock = clock
        self._selector = selectors.DefaultSelector()
        self._log = OutputLog(orders.log_path, clock)
        self._copy = OutputLog(orders.copy_path, clock, appends=orders.copy_appends)
        self._clients = Clients(self._selector, self._log, self._obey)
        self._streams: dict[int, Kind] = {}
        self._pending_input = bytearray()
        self._output_bytes = 0
        self._told_log_problem: str | None = None
        self._signals = _listen_to_signals()
        self._started_at = clock.now()
        self._spawned = Spawned(pid=0)
        self._command_end: ProcessEnd | None = None
        self._reaped: list[ProcessEnd] = []
        self._ending: dict[str, Any] | None = None
        self._counts = read_counts()
        self._selector.register(self._signals, selectors.EVENT_READ, self._on_signals)
        self._listener = Listener(orders.socket_path)
        if self._listener.socket is not None:
            self._selector.register(self._listener.socket, selectors.EVENT_READ, self._on_connection)
        self._clients.add(first_client)

    def hold(self) -> None:
        """Start the command, see it through, and leave when the last client has left."""
        try:
            self._spawned = spawn(self._orders)
        except OSError as error:
            self._finish({"errno": error.errno})
        else:
            self._winding = WindingDown(self._orders, clock=self._clock, tell=self._clients.tell)
            self._watch_streams()
            self._write_holder_file()
            while self._ending is None:
                self._wait(self._winding.seconds_to_next_look())
                self._look()
        while not self._clients.are_gone:
            self._wait(None)
        self._leave()

    def _wait(self, timeout: float | None) -> None:
        for key, mask in self._selector.select(timeout):
            if key.fileobj in self._selector.get_map():  # an earlier one may have closed it
                key.data(key.fd, mask)

    def _look(self) -> None:
        """See who has ended and what is due."""
        if self._reap():
            self._winding.look(command_has_ended=self._command_end is not None)
        else:
            self._end()

    def _reap(self) -> bool:
        """Collect ended children; False when no process of the run is left, which only the kernel knows for sure."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                end = ProcessEnd(pid, os.waitstatus_to_exitcode(status), self._clock.now())
                self._winding.traces.add(pid)
                if pid == self._spawned.pid:
                    self._command_end = end
                else:
                    self._reaped.append(end)
                    del self._reaped[200:-200]  # an ending is one message, and the first and last tell the story
        except ChildProcessError:
            return False

    def _end(self) -> None:
        if self._spawned.slave is not None:
            os.close(self._spawned.slave)
        for fd in list(self._streams):
            while self._pass_on(fd):
                pass
        assert self._command_end is not None  # noqa: S101  # no children means that it was reaped
        removed, counts = self._winding.traces.remove(), read_counts()
        ending = Ending(
            command=self._command_end,
            started_at=self._started_at,
            sweep_began_at=self._winding.sweep_began_at,
            stop_requests=tuple(self._winding.requests),
            reaped=tuple(self._reaped),
            swept=self._winding.swept,
            output_bytes=self._output_bytes,
            log_bytes_dropped=self._log.dropped_bytes,
            segments_removed=tuple(removed[:100]),
            oom_kills=self._count_kills(counts),
            memory_peak_bytes=counts.peak_bytes,
            memory_limit_bytes=counts.limit_bytes,
        )
        self._finish(write_ending(ending))

    def _count_kills(self, now: CgroupCounts) -> int | None:
        if now.oom_kills is None or self._counts.oom_kills is None:
            return None
        return max(0, now.oom_kills - self._counts.oom_kills)

    def _finish(self, ending: dict[str, Any]) -> None:
        self._ending = ending
        write_json(self._orders.ending_path, ending)
        self._clients.finish(pack(Kind.ENDED, **ending))

    def _leave(self) -> None:
        self._listener.close()
        if self._orders.temporary_folder is not None:
            shutil.rmtree(self._orders.temporary_folder, ignore_errors=True)

    # Output.

    def _watch_streams(self) -> None:
        spawned = self._spawned
        kinds = {
            spawned.terminal: Kind.OUTPUT_TERMINAL,
            spawned.stdout: Kind.OUTPUT_STDOUT,
            spawned.stderr: Kind.OUTPUT_STDERR,
        }
        self._streams = {fd: kind for fd, kind in kinds.items() if fd is not None}
        for fd in self._streams:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, self._on_stream)

    def _on_stream(self, fd: int, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._give_input()
        if mask & selectors.EVENT_READ:
            self._pass_on(fd)

    def _pass_on(self, fd: int) -> bool:
        """Read once from a stream and pass it to the log and all clients; False when nothing is there now."""
        try:
            data = os.read(fd, LARGEST_CONTENT_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # EIO: the terminal's last program has closed it
            data = b""
        if not data:
            self._selector.unregister(fd)
            del self._streams[fd]
            return False
        self._output_bytes += len(data)
        begin = self._log.add(data)
        self._copy.add(data)
        self._tell_log_problem()
        self._clients.offer_output(self._streams[fd], data, begin)
        return True

    def _tell_log_problem(self) -> None:
        if self._log.problem is not None and self._log.problem != self._told_log_problem:
            self._clients.tell(about="log_dropped", problem=self._log.problem, path=self._orders.log_path)
            self._told_log_problem = self._log.problem

    def _on_connection(self, _fd: int, _mask: int) -> None:
        connection = self._listener.accept()
        if connection is None:
            return
        begin = max(0, self._log.length - _TAIL_BYTES)
        tail = self._log.read(begin, _TAIL_BYTES)
        kind = Kind.OUTPUT_TERMINAL if self._orders.terminal_fds else Kind.OUTPUT_STDOUT
        self._clients.add(connection, [pack(kind, tail)] if tail else [])

    def _obey(self, message: Message) -> None:
        if message.kind is Kind.STOP and self._ending is None:
            self._winding.ask(StopManner(message.values["manner"]))
        elif message.kind is Kind.SAVE and self._ending is None:
            self._winding.ask_for_save()
        elif message.kind is Kind.WINDOW and self._terminal is not None:
            set_window(self._terminal, message.values["rows"], message.values["columns"])
        elif message.kind is Kind.INPUT and len(self._pending_input) < _INPUT_BYTES:
            self._pending_input += message.content
            self._give_input()

    @property
    def _terminal(self) -> int | None:
        terminal = self._spawned.terminal
        return terminal if terminal in self._streams else None

    def _give_input(self) -> None:
        """Type what clients typed, as far as the terminal takes it."""
        if self._terminal is None:
            self._pending_input.clear()
            return
        with contextlib.suppress(OSError):
            while self._pending_input:
                del self._pending_input[: os.write(self._terminal, self._pending_input)]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._pending_input else 0)
        self._selector.modify(self._terminal, events, self._on_stream)

    # Signals.

    def _on_signals(self, _fd: int, _mask: int) -> None:
        numbers = self._signals.recv(4096)
        for number in numbers:
            if number == signal.SIGUSR1 and self._ending is None:
                self._winding.ask_for_save()
            if number == signal.SIGTERM and self._ending is None:
                again = bool(self._winding.requests)
                self._winding.ask(StopManner.AT_ONCE if again else StopManner.WELL)

    def _write_holder_file(self) -> None:
        process = read_process(os.getpid())
        start_ticks = process.start_ticks if process is not None else None
        values = {
            "pid": os.getpid(),
            "start_ticks": start_ticks,
            "command_pid": self._spawned.pid,
            "socket": self._listener.path,
        }
        write_json(self._orders.holder_path, values)


def main() -> None:
    """Be the holder: `-c … RUN_ID SOCKET_FD ORDERS_FD`."""
    socket_fd, orders_fd = int(sys.argv[-2]), int(sys.argv[-1])
    with os.fdopen(orders_fd, "rb") as file:
        orders = read_orders(file.read())
    os.set_inheritable(socket_fd, False)
    become_subreaper()
    Holder(orders, socket.socket(fileno=socket_fd), SystemClock()).hold()


def _listen_to_signals() -> socket.socket:
    """Turn SIGCHLD, SIGTERM and SIGUSR1 into bytes to read, and let everything else pass."""
    reading, writing = socket.socketpair()
    for end in (reading, writing):
        end.setblocking(False)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writing.detach(), warn_on_full_buffer=False)
    return reading
