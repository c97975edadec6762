"""What does a process do that builds batches for one or more slots of a loader?

It behaves as torch's own worker does, slot by slot: the same seeds, the same `get_worker_info()`, the same
`worker_init_fn`, the same exceptions handed back. In addition it says when it begins a batch, sends the slot's random
states along with it, and measures what building it took. Results are (BATCH, number, payload, state, bytes, peak) and
(ENDED, number), where the payload was pickled here, so that a batch that can't be pickled is an error of that batch.
Which task is being built goes over a pipe of its own, at once: results wait for their turn to be sent, and a batch must
not be blamed for the death that the next one caused.
"""

import contextlib
import os
import queue
import random
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable, Dict, Optional, Tuple

from laststep_guard.guards import memory_readings
from laststep_guard.guards.random_states import RandomStates

BATCH, ENDED = "batch", "ended"
BUILD, RESUME, STOP = "build", "resume", "stop"

_PARENT_CHECK_SECONDS = 5.0
_LIGHT_SECONDS = 0.005  # a batch that is built faster than this is measured only now and then
_MEASURE_EVERY = 16
_KILL_FIRST = (
    "1000"  # of all in the cgroup the kernel ends a worker first: the loader survives that, a trainer does not
)


@dataclass(frozen=True)
class WorkerOrder:
    """What a worker process is started with; pickled to it under spawn and forkserver."""

    dataset_kind: int
    dataset: Any
    collate_fn: Any
    auto_collation: bool
    drop_last: bool
    base_seed: int
    init_fn: Optional[Callable[[int], None]]
    num_workers: int  # slots in all, as asked for


def make_order(loader: Any, base_seed: int) -> WorkerOrder:
    """Read from torch's loader what its workers have to know."""
    return WorkerOrder(
        dataset_kind=loader._dataset_kind,  # noqa: SLF001  # torch's own iterator reads it
        dataset=loader.dataset,
        collate_fn=loader.collate_fn,
        auto_collation=loader._auto_collation,  # noqa: SLF001  # as above
        drop_last=loader.drop_last,
        base_seed=base_seed,
        init_fn=loader.worker_init_fn,
        num_workers=loader.num_workers,
    )


def run_worker(order: WorkerOrder, orders: Any, results: Any, progress: Any) -> None:
    """Serve orders and answer them until told to stop or left alone."""
    parent = os.getppid()
    import torch  # noqa: PLC0415  # as above
    from torch.utils.data._utils import signal_handling  # noqa: PLC0415  # the host has imported torch long ago

    signal_handling._set_worker_signal_handlers()  # noqa: SLF001  # as torch's worker does
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a handler inherited from the trainer is not for us
    torch.set_num_threads(1)
    _volunteer_to_be_killed()
    sender = _Sender(results)
    try:
        worker = _Worker(order, sender, progress)
        while True:
            message = _next_order(orders, parent)
            if message is None or message[0] == STOP:
                break
            if message[0] == RESUME:
                worker.resume()
                continue
            worker.build(*message[1:])
            progress.send(None)
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the trainer gets the one as well and decides; or it is gone


def _next_order(orders: Any, parent: int) -> Any:
    """Wait for an order; None when the trainer is gone."""
    while True:
        try:
            if orders.poll(_PARENT_CHECK_SECONDS):
                return orders.recv()
        except (EOFError, OSError):
            return None
        if os.getppid() != parent:
            return None


class _Worker:
    def __init__(self, order: WorkerOrder, sender: "_Sender", progress: Any) -> None:
        self._order = order
        self._sender = sender
        self._progress = progress
        self._states = RandomStates({"dataset": order.dataset, "collate_fn": order.collate_fn})
        self._slot: Optional[int] = None  # whose random states are in place
        self._by_slot: Dict[int, bytes] = {}  # states of the slots that are not in place
        self._fetchers: Dict[int, Any] = {}
        self._failures: Dict[int, Any] = {}  # an exception of worker_init_fn, handed back with the first batch
        self._sent_state: Dict[int, bytes] = {}
        self._ended: Dict[int, bool] = {}
        self._gauge = _Gauge()

    def build(self, number: int, slot: int, index: Any, state: Optional[bytes], replay: int) -> None:
        """Build one batch for a slot and send it."""
        if self._ended.get(slot):
            return  # torch's worker skips what was asked of it after its data set had ended
        self._enter(slot, index, state, replay)
        self._progress.send(number)
        self._gauge.start()
        data, has_ended = self._fetch(slot, index)
        if has_ended:
            self._ended[slot] = True
            self._sender.send(ForkingPickler.dumps((ENDED, number)))
            return
        batch_bytes = count_bytes(data)
        captured: Optional[bytes] = self._states.capture()
        if captured == self._sent_state.get(slot):
            captured = None
        else:
            self._sent_state[slot] = captured  # type: ignore[assignment]  # it is bytes in this branch
        payload = self._pickled(data, slot)
        del data
        self._sender.send(ForkingPickler.dumps((BATCH, number, payload, captured, batch_bytes, self._gauge.stop())))

    def resume(self) -> None:
        """Begin another epoch with the processes and random states of the last."""
        self._fetchers.clear()
        self._ended.clear()

    def _enter(self, slot: int, index: Any, state: Optional[bytes], replay: int) -> None:
        """Put the states and the worker info of a slot in place, and read past `replay` batches of an iterable."""
        if self._slot is not None and self._slot != slot:
            self._by_slot[self._slot] = self._states.capture()
        is_new = slot not in self._by_slot and self._slot != slot
        changes = is_new or self._slot != slot
        if is_new:
            self._open(slot)
        elif changes:
            self._states.restore(self._by_slot[slot])
        if changes:
            self._inform(slot)
        self._slot = slot
        if state is not None:
            self._states.restore(state)
            self._sent_state[slot] = state
        if slot not in self._fetchers:
            self._fetchers[slot] = self._make_fetcher()
            for _ in range(replay):
                self._fetch(slot, index)

    def _open(self, slot: int) -> None:
        """Seed a slot and run `worker_init_fn`, as torch does at the start of a worker."""
        import torch  # noqa: PLC0415  # imported by the host
        from torch.utils.data._utils import worker as stock  # noqa: PLC0415  # as above

        order = self._order
        self._states.restore_pristine()
        random.seed(order.base_seed + slot)
        torch.manual_seed(order.base_seed + slot)
        if getattr(stock, "HAS_NUMPY", True):
            import numpy  # noqa: ICN001, PLC0415  # torch has it

            numpy.random.seed(stock._generate_state(order.base_seed, slot))  # noqa: NPY002, SLF001  # torch's own seeding
        self._inform(slot)
        if order.init_fn is not None:
            try:
                order.init_fn(slot)
            except Exception:  # handed to the trainer with the first batch, as torch does
                self._failures[slot] = _wrapped_exception(slot)

    def _inform(self, slot: int) -> None:
        from torch.utils.data._utils import worker as stock  # noqa: PLC0415  # imported by the host

        order = self._order
        stock._worker_info = stock.WorkerInfo(  # noqa: SLF001  # what get_worker_info() reads
            id=slot, num_workers=order.num_workers, seed=order.base_seed + slot, dataset=order.dataset
        )

    def _make_fetcher(self) -> Any:
        from torch.utils.data import _DatasetKind  # noqa: PLC0415  # imported by the host

        order = self._order
        return _DatasetKind.create_fetcher(
            order.dataset_kind, order.dataset, order.auto_collation, order.collate_fn, order.drop_last
        )

    def _fetch(self, slot: int, index: Any) -> Tuple[Any, bool]:
        """Give (batch or wrapped exception, whether an iterable data set has ended)."""
        from torch.utils.data import _DatasetKind  # noqa: PLC0415  # imported by the host

        failure = self._failures.pop(slot, None)
        if failure is not None:
            return failure, False
        try:
            return self._fetchers[slot].fetch(index), False
        except Exception as error:  # handed to the trainer, as torch does
            if isinstance(error, StopIteration) and self._order.dataset_kind == _DatasetKind.Iterable:
                return None, True
            return _wrapped_exception(slot), False

    def _pickled(self, data: Any, slot: int) -> bytes:
        try:
            return bytes(ForkingPickler.dumps(data))
        except Exception:  # handed to the trainer; torch's queue would print it and leave the trainer waiting
            return bytes(ForkingPickler.dumps(_wrapped_exception(slot)))


class _Sender:
    """Sends from a thread, so that a large message does not keep the next batch from being built."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="laststep-sender", daemon=True)
        self._thread.start()

    def send(self, message: Any) -> None:
        self._queue.put(message)

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # the trainer is gone
            while True:
                self._results.send_bytes(self._queue.get())


class _Gauge:
    """Measures what building a batch takes at its peak; for light batches only now and then."""

    def __init__(self) -> None:
        self._count = 0
        self._last_seconds = 1.0
        self._is_measuring = False
        self._before = 0
        self._began = 0.0

    def start(self) -> None:
        self._is_measuring = self._last_seconds > _LIGHT_SECONDS or self._count % _MEASURE_EVERY == 0
        self._count += 1
        self._began = time.monotonic()
        if self._is_measuring:
            self._is_measuring = memory_readings.reset_peak()
            self._before = memory_readings.read_peak_bytes()

    def stop(self) -> int:
        """Give the bytes taken beyond what was held before; 0 where they were not measured."""
        self._last_seconds = time.monotonic() - self._began
        return max(0, memory_readings.read_peak_bytes() - self._before) if self._is_measuring else 0


def count_bytes(data: Any) -> int:
    """Count the bytes of the tensors and arrays in a batch."""
    size = getattr(data, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(data, dict) or hasattr(data, "items"):
        return sum(count_bytes(value) for value in data.values())
    if isinstance(data, (list, tuple)):
        return sum(count_bytes(value) for value in data)
    if isinstance(data, (str, bytes)):
        return len(data)
    return 0


def _wrapped_exception(slot: int) -> Any:
    from torch._utils import ExceptionWrapper  # noqa: PLC0415  # imported by the host

    return ExceptionWrapper(where=f"in DataLoader worker process {slot}")


def _volunteer_to_be_killed() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write(_KILL_FIRST)
    except OSError:
        pass  # a read-only /proc: the kernel then chooses by size
