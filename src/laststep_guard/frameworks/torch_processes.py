"""How are the processes of a loader started, spoken to, listened to and ended?

Every process has two pipes of its own and no lock shared with a sibling, so a process that dies in the middle of a
message disturbs nobody. The trainer closes its copies of the far ends at once: then the death of a process is also
the end of its pipe. Deaths are noticed by waiting on the processes' sentinels together with their pipes.
"""

import contextlib
import os
import queue
import threading
from multiprocessing import connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Dict, List, Optional, Tuple

from laststep_guard.frameworks.torch_worker import BATCH, STOP, WorkerOrder, run_worker

_JOIN_SECONDS = 5.0
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  # where torch makes the segments that batches travel in
_MOST_UNREAD_BYTES = 32 << 10  # of orders in a pipe of 64 kB, so that sending never waits for a busy worker

Message = Tuple[Any, ...]


class LoaderProcess:
    """One worker process and the pipes to it."""

    def __init__(self, context: Any, order: WorkerOrder) -> None:
        orders_far, self._orders = context.Pipe(duplex=False)
        self.results, results_far = context.Pipe(duplex=False)
        self._progress, progress_far = context.Pipe(duplex=False)
        self.process = context.Process(target=run_worker, args=(order, orders_far, results_far, progress_far))
        self.process.daemon = True
        self.unread_bytes: Dict[int, int] = {}  # number of a task -> size of its order, until its answer comes
        self.building: Optional[int] = None  # number of the task that it builds, as far as it has said
        self.has_lost_batch = False
        try:
            self.process.start()
        except BaseException:
            for end in (self._orders, self.results, self._progress):
                end.close()
            raise
        finally:
            for end in (orders_far, results_far, progress_far):
                end.close()

    @property
    def pid(self) -> int:
        return int(self.process.pid)

    @property
    def sentinel(self) -> int:
        return int(self.process.sentinel)

    def has_room(self) -> bool:
        """Tell whether another order can be sent without waiting."""
        return sum(self.unread_bytes.values()) < _MOST_UNREAD_BYTES

    def send(self, message: Message, number: Optional[int] = None) -> None:
        """Send an order; to a process that is gone it is simply lost, which its sentinel tells soon."""
        data = ForkingPickler.dumps(message)
        if number is not None:
            self.unread_bytes[number] = len(data)
        with contextlib.suppress(OSError):
            self._orders.send_bytes(data)

    def read_progress(self) -> None:
        """Read which task it builds. It says so at once and by itself, where batches wait for their turn to be sent."""
        with contextlib.suppress(EOFError, OSError):
            while self._progress.poll(0):
                self.building = self._progress.recv()

    def receive(self) -> Optional[Message]:
        """Receive one message that is ready; None at the end of the pipe, or of what can still be received.

        After a batch that is lost nothing more is taken: what follows from the same slot would be out of turn.
        """
        if self.has_lost_batch:
            return None
        try:
            message: Message = ForkingPickler.loads(self.results.recv_bytes())
        except (EOFError, OSError):
            return None
        if message[0] != BATCH:
            return message
        try:
            return (*message[:2], ForkingPickler.loads(message[2]), *message[3:])
        except (EOFError, OSError):
            # A batch travels as file descriptors, which its sender hands over on request. A living sender fails to do
            # so when this process can open no more; if it fails for another reason, it is of no more use.
            self.has_lost_batch = True
            if self.process.is_alive():
                _raise_if_out_of_files()
                self.process.kill()
            return None

    def end(self) -> None:
        """Ask the process to stop."""
        self.send((STOP,))

    def join(self) -> Optional[int]:
        """Wait for the end, by force when it takes too long, and give the exit code as subprocess does."""
        self.process.join(_JOIN_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(_JOIN_SECONDS)
        self.read_progress()
        self._progress.close()
        self._orders.close()  # the results may be waited on by another thread; they close with their last reference
        code: Optional[int] = self.process.exitcode
        if code is not None and code < 0:
            _remove_segments(self.pid)
        return code


class Mailbox:
    """Receives what the processes send, in the thread that asks."""

    def collect(
        self, processes: List[LoaderProcess], timeout_seconds: Optional[float]
    ) -> List[Tuple[LoaderProcess, Optional[Message]]]:
        """Wait until something is there and give all of it as (process, message); None for a message is its death."""
        ends = {process.results: process for process in processes}
        sentinels = {process.sentinel: process for process in processes}
        ready = connection.wait([*ends, *sentinels], timeout_seconds)
        received: List[Tuple[LoaderProcess, Optional[Message]]] = []
        dead = [sentinels[end] for end in ready if isinstance(end, int)]
        for process in [ends[end] for end in ready if not isinstance(end, int)] + dead:
            received.extend((process, message) for message in _drain(process))
        received.extend((process, None) for process in dead)
        return received

    def close(self) -> None:
        """Stop receiving."""


class PinningMailbox(Mailbox):
    """Receives in a thread of its own and pins batches there, as torch does with `pin_memory=True`."""

    def __init__(self, pin: Callable[[Any], Any], prepare_thread: Callable[[], None]) -> None:
        self._pin = pin
        self._prepare_thread = prepare_thread
        self._received: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._processes: List[LoaderProcess] = []
        self._dead: List[LoaderProcess] = []
        self._wake_far, self._wake = os.pipe()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="laststep-pin", daemon=True)
        self._thread.start()

    def collect(
        self, processes: List[LoaderProcess], timeout_seconds: Optional[float]
    ) -> List[Tuple[LoaderProcess, Optional[Message]]]:
        if processes != self._processes:
            self._processes = list(processes)
            os.write(self._wake, b"w")
        received: List[Tuple[LoaderProcess, Optional[Message]]] = []
        try:
            received.append(self._received.get(timeout=timeout_seconds))
            while True:
                received.append(self._received.get_nowait())
        except queue.Empty:
            pass
        for item in received:
            if isinstance(item, BaseException):
                raise item
        return received

    def close(self) -> None:
        self._is_closed = True
        os.write(self._wake, b"w")
        self._thread.join()
        for descriptor in (self._wake, self._wake_far):
            os.close(descriptor)

    def _run(self) -> None:
        self._prepare_thread()
        try:
            while not self._is_closed:
                self._receive_once()
        except BaseException as error:  # raised again where the trainer asks for its batch
            self._received.put(error)

    def _receive_once(self) -> None:
        processes = [process for process in self._processes if process not in self._dead]
        self._dead = [process for process in self._dead if process in self._processes]
        waiting_for = [
            self._wake_far,
            *(process.results for process in processes),
            *(process.sentinel for process in processes),
        ]
        if self._wake_far in connection.wait(waiting_for):
            os.read(self._wake_far, 4096)
            return
        for process, message in super().collect(processes, 0):
            if message is None:
                self._dead.append(process)
            elif message[0] == BATCH:
                message = (*message[:2], self._pin(message[2]), *message[3:])  # noqa: PLW2901  # the same batch, pinned
            self._received.put((process, message))


def _drain(process: LoaderProcess) -> List[Message]:
    messages: List[Message] = []
    while process.results.poll(0):
        message = process.receive()
        if message is None:
            break
        messages.append(message)
    return messages


def _remove_segments(pid: int) -> None:
    """Remove shared memory that a killed worker had made and not yet handed on, which may be a whole batch.

    torch takes the name off a segment as soon as it is there, so a name that is left belongs to nobody; where segments
    are shared by name, torch's own manager looks after them.
    """
    import torch.multiprocessing  # noqa: PLC0415  # the host has imported torch

    if torch.multiprocessing.get_sharing_strategy() != "file_descriptor":
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(_SHARED_MEMORY):
            if name.startswith(f"torch_{pid}_"):
                os.unlink(os.path.join(_SHARED_MEMORY, name))


def _raise_if_out_of_files() -> None:
    try:
        spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(10)]
    except OSError as error:
        raise RuntimeError(
            "Too many open files: batches can't be received from the loader's workers. Raise `ulimit -n`, or call "
            "torch.multiprocessing.set_sharing_strategy('file_system') at the start of the program."
        ) from error
    for descriptor in spare:
        os.close(descriptor)
