"""How does a data loader go on when one of its workers dies?

This is torch's `_MultiProcessingDataLoaderIter` with another engine: it draws the same indices at the same moments and
hands over the same batches in the same order, but what a process owes is known, so that it can be asked of another one.
How much is in flight is bounded by `memory_budget`. What torch offers beyond (data pipes, `in_order=False`) is left to torch.
"""

import time
from types import ModuleType
from typing import Any, Dict, List, Optional

from laststep_guard.frameworks.torch_appetite import Appetite
from laststep_guard.frameworks.torch_processes import LOST, LoaderProcess, Mailbox, PinningMailbox
from laststep_guard.frameworks.torch_worker import BATCH, BEGUN, BUILD, ENDED, RESUME, WorkerOrder
from laststep_guard.guardian import Guardian, Rows
from laststep_guard.guards.slots import Slot, SlotPlan, Task
from laststep_guard.wire import EventKind

_MOST_DEATHS_ON_BATCH = 3
_MOST_DEATHS_IN_A_ROW = 10  # without a single batch in between: the workers die at their start
_LOOK_SECONDS = 0.1  # between looks at the memory while waiting for a heavy batch


def hook_loader(module: ModuleType, guardian: Guardian) -> None:
    """Put our engine into torch's loader. `module` is `torch.utils.data.dataloader`."""
    single = module._SingleProcessDataLoaderIter  # noqa: SLF001  # torch has no public name for it
    guardian.patches.wrap(single, "_next_index", lambda original: _noting_rows(original, guardian))
    if not guardian.settings.wants_guard("loader"):
        return
    stock = module._MultiProcessingDataLoaderIter  # noqa: SLF001  # as above
    missing = [name for name in _RELIED_ON if not hasattr(stock, name)]
    if missing:
        guardian.emit(EventKind.GUARD_DECLINED, name="loader", reason=f"this torch's loader has no {', '.join(missing)}")
        return
    engine = type(stock.__name__, (_Engine, stock), {"_guardian": guardian, "_stock": stock, "__module__": stock.__module__})
    guardian.patches.replace(module, "_MultiProcessingDataLoaderIter", engine)


_RELIED_ON = ("_next_index", "_next_data", "_reset", "_shutdown_workers", "__next__")


def _noting_rows(original: Any, guardian: Guardian) -> Any:
    def next_index(self: Any) -> Any:
        index = original(self)
        if not guardian.state.is_evaluating:
            guardian.state.handed_over.append(Rows(self._dataset, index))
        return index

    return next_index


class _Engine:
    """The part that replaces torch's. Mixed in before torch's class, whose base class still draws indices and seeds."""

    _guardian: Guardian
    _stock: Any
    # Set by torch's base class:
    _dataset: Any
    _dataset_kind: int
    _base_seed: int
    _num_workers: int
    _persistent_workers: bool
    _pin_memory: bool
    _timeout: float

    def __new__(cls, loader: Any) -> Any:
        if not getattr(loader, "in_order", True) or _is_data_pipe(loader.dataset):
            reason = "in_order=False" if not getattr(loader, "in_order", True) else "a torch data pipe"
            cls._guardian.emit(EventKind.GUARD_DECLINED, name="loader", reason=f"{reason}: left to torch")
            return cls._stock(loader)
        return object.__new__(cls)

    def __init__(self, loader: Any) -> None:
        stock_base = self._stock.__mro__[1]
        self._shutdown = True  # until there is something to shut down
        self._processes: Dict[int, LoaderProcess] = {}
        stock_base.__init__(self, loader)
        self._in_order = True
        self._prefetch_factor = loader.prefetch_factor
        self._context = loader.multiprocessing_context or _torch_multiprocessing()
        self._label = "evaluate" if self._guardian.state.is_evaluating else "train"
        self._plan = SlotPlan(self._num_workers)
        self._is_iterable = self._dataset_kind == 1
        self._deaths_in_a_row = 0
        self._appetite = Appetite(self._guardian, loader, self._label, self._prefetch_factor * self._num_workers, self._num_workers)
        self._order = WorkerOrder(
            dataset_kind=loader._dataset_kind, dataset=self._dataset, collate_fn=loader.collate_fn,  # noqa: SLF001  # torch's own iterator reads it
            auto_collation=loader._auto_collation, drop_last=loader.drop_last, base_seed=self._base_seed,  # noqa: SLF001  # as above
            init_fn=loader.worker_init_fn, num_workers=self._num_workers,
        )  # fmt: skip
        self._mailbox = Mailbox()
        self._shutdown = False
        for key in range(self._num_workers):
            self._start(key)
        if self._pin_memory:
            self._mailbox = _pinning_mailbox(self._pin_memory_device)  # type: ignore[attr-defined]  # torch's base class set it
        self._note_started()
        self._reset(loader, first_iter=True)

    @property
    def _workers(self) -> List[Any]:
        """The worker processes, under torch's name for them."""
        return [process.process for process in self._processes.values()]

    def _reset(self, loader: Any, first_iter: bool = False) -> None:  # noqa: FBT001, FBT002  # torch's signature
        if not first_iter:
            self._finish_owed()
            for process in self._processes.values():
                process.send((RESUME,))
        self._stock.__mro__[1]._reset(self, loader, first_iter)  # noqa: SLF001  # torch's own chain
        self._plan.begin_epoch()
        if self._label == "train":
            self._guardian.state.handed_over.clear()
        for _ in range(self._prefetch_factor * self._num_workers):
            self._draw()
        self._send()

    def _next_data(self) -> Any:
        self._appetite.note_step()
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            if self._plan.head() is None:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            task = self._plan.hand_over()
            if task is not None:
                return self._handed(task)
            self._send()
            self._collect(deadline)

    def _handed(self, task: Task) -> Any:
        """Hand a batch to the trainer, and ask for the next one in its place."""
        data = task.result
        self._appetite.note_handed(data)
        if self._label == "train":
            self._guardian.state.handed_over.append(self._rows(task))
        self._draw()
        self._send()
        if _is_wrapped_exception(data):
            data.reraise()
        return data

    def _draw(self) -> None:
        """Draw the next index when torch would: the sampler may draw from random states the trainer shares."""
        try:
            index = self._next_index()  # type: ignore[attr-defined]  # torch's base class
        except StopIteration:
            return
        self._plan.add(index)

    # -- sending ------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send as many of the planned tasks as the memory budget allows, in order."""
        allowance = self._appetite.allow(self._plan)
        if not self._is_iterable:
            self._serve_with(self._appetite.processes_wanted(allowance, len(self._processes)))
        in_flight = len(self._plan.in_flight())
        for task in self._plan.unsent():
            is_next = task is self._plan.head()
            if in_flight >= allowance.in_flight and not is_next:
                return
            if is_next and task.deaths and allowance.in_flight == 1 and not self._plan.building():
                in_flight -= self._plan.drop_results()  # make room for the batch whose turn it is
            process = self._processes.get(task.slot.process)
            if process is None or not process.has_room() or self._is_moving(task.slot):
                continue
            self._send_task(task, process)
            in_flight += 1

    def _send_task(self, task: Task, process: LoaderProcess) -> None:
        slot = task.slot
        state, replay = None, 0
        if not slot.is_state_sent:
            slot.is_state_sent = True
            state = slot.state_epoch if self._is_iterable else slot.state_received
            replay = slot.batches_received if self._is_iterable else 0
        task.is_sent = True
        process.send((BUILD, task.number, slot.number, task.index, state, replay), task.number)

    def _serve_with(self, count: int) -> None:
        """Let so many processes serve the slots; a slot moves when it owes nothing."""
        self._processes_wanted = count
        for slot in self._plan.slots:
            key = slot.number % count
            if slot.process != key and not self._owes(slot):
                if key not in self._processes:
                    self._start(key)
                self._plan.move(slot, key)
        for key in [key for key in self._processes if not self._plan.served_by(key)]:
            process = self._processes.pop(key)
            process.end()
            process.join()

    def _is_moving(self, slot: Slot) -> bool:
        return not self._is_iterable and slot.process != slot.number % self._processes_wanted

    def _owes(self, slot: Slot) -> bool:
        return any(task.slot is slot for task in self._plan.building())

    # -- receiving ----------------------------------------------------------------------------------------------------

    def _collect(self, deadline: Optional[float]) -> None:
        """Wait for something to happen, and take it in."""
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
        if self._appetite.is_heavy():
            timeout = _LOOK_SECONDS if timeout is None else min(timeout, _LOOK_SECONDS)
        received = self._mailbox.collect(list(self._processes.values()), timeout)
        for process, message in received:
            if message is None:
                self._rebuild(process)
            else:
                self._take_in(process, message)
        if received:
            return
        if deadline is not None and time.monotonic() >= deadline:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        head = self._plan.head()
        self._appetite.look(self._plan, self._rows(head) if head else None, [process.pid for process in self._processes.values()])

    def _take_in(self, process: LoaderProcess, message: Any) -> None:
        kind, number = message[:2]
        process.unread_bytes.pop(number, None)
        task = self._plan.tasks.get(number)
        if task is None or not task.is_sent:
            return  # void: its data set had ended, or it was taken back
        if kind == BEGUN:
            task.is_begun = True
        elif kind == LOST:
            task.is_begun = False  # it was built; whatever ended the process was not this batch
        elif kind == ENDED:
            self._end_slot(task, process)
        elif kind == BATCH:
            _, _, data, state, batch_bytes, worker_bytes = message
            self._deaths_in_a_row = 0
            self._plan.receive(number, result=data, state_after=state, payload_bytes=batch_bytes)
            self._appetite.note_batch(batch_bytes, worker_bytes)

    def _end_slot(self, task: Task, process: LoaderProcess) -> None:
        self._plan.end_slot(task.number)
        if not self._persistent_workers:
            process.end()
            self._processes = {key: other for key, other in self._processes.items() if other is not process}
            process.join()
        self._draw()

    # -- deaths -------------------------------------------------------------------------------------------------------

    def _rebuild(self, process: LoaderProcess) -> None:
        """Put another process in the place of one that died, and ask it for what was owed."""
        key = next((key for key, other in self._processes.items() if other is process), None)
        if key is None:
            return
        began = time.monotonic()
        code = process.join()
        lost, blamed = self._plan.lose(key)
        self._deaths_in_a_row += 1
        self._note_death(process.pid, code, blamed)
        self._appetite.note_death(code, self._plan)
        self._give_up_if_hopeless(blamed)
        self._start(key)
        note = self._what_is_not_kept(key)
        self._send()
        self._guardian.emit(
            EventKind.LOADER_REBUILT, loader=self._label, seconds=time.monotonic() - began, resent=len(lost), note=note
        )

    def _note_death(self, pid: int, code: Optional[int], blamed: Optional[Task]) -> None:
        self._guardian.emit(
            EventKind.WORKER_DIED, loader=self._label, worker=pid, code=code,
            batch=blamed.number if blamed else None, deaths_on_batch=blamed.deaths if blamed else 0,
            rows=self._describe(blamed),
        )  # fmt: skip

    def _give_up_if_hopeless(self, blamed: Optional[Task]) -> None:
        if blamed is not None and blamed.deaths >= _MOST_DEATHS_ON_BATCH:
            rows = self._describe(blamed)
            self._guardian.emit(
                EventKind.LOADER_GAVE_UP, loader=self._label, batch=blamed.number, rows=rows, deaths_on_batch=blamed.deaths
            )
            raise RuntimeError(
                f"Batch {blamed.number} of the {self._label} loader ended {blamed.deaths} worker processes in a row. "
                f"It is made of: {'; '.join(rows) or blamed.index}. {self._appetite.explain()}"
            )
        if self._deaths_in_a_row >= _MOST_DEATHS_IN_A_ROW:
            raise RuntimeError(
                f"{self._deaths_in_a_row} worker processes of the {self._label} loader ended without building a single batch. "
                f"{self._appetite.explain()}"
            )

    def _what_is_not_kept(self, key: int) -> Optional[str]:
        if not self._is_iterable:
            return None
        counts = [slot.batches_received for slot in self._plan.served_by(key)]
        return (
            f"an iterable data set has no index: the new worker reads past the {sum(counts)} batches its predecessor had built, "
            "which gives the same batches only if the data set yields the same rows again from the same seed"
        )

    def _describe(self, task: Optional[Task]) -> List[str]:
        return self._guardian.describe(self._rows(task)) if task is not None else []

    def _rows(self, task: Task) -> Rows:
        return Rows(self._dataset, None if self._is_iterable else task.index)

    # -- beginning and end --------------------------------------------------------------------------------------------

    def _start(self, key: int) -> None:
        self._processes[key] = LoaderProcess(self._context, self._order)

    def _note_started(self) -> None:
        method = getattr(self._context, "get_start_method", lambda: "fork")()
        self._guardian.emit(
            EventKind.WORKERS_STARTED, loader=self._label, workers=[process.pid for process in self._processes.values()],
            slots=self._num_workers, start_method=method,
        )  # fmt: skip

    def _finish_owed(self) -> None:
        """Let persistent workers build what was asked for and is no longer wanted: their random states go on from there."""
        while self._plan.head() is not None:
            if self._plan.hand_over() is None:
                self._send()
                self._collect(None)

    def _shutdown_workers(self) -> None:
        if self._shutdown or _is_python_ending():
            return
        self._shutdown = True
        for process in self._processes.values():
            process.end()
        self._mailbox.close()
        for process in self._processes.values():
            process.join()
        self._processes = {}
        self._plan.tasks.clear()

    def __del__(self) -> None:
        self._shutdown_workers()


def _torch_multiprocessing() -> Any:
    import torch.multiprocessing  # noqa: PLC0415  # the host has imported torch

    return torch.multiprocessing


def _is_data_pipe(dataset: Any) -> bool:
    return any(kind.__name__ in ("IterDataPipe", "MapDataPipe") for kind in type(dataset).__mro__)


def _is_wrapped_exception(data: Any) -> bool:
    from torch._utils import ExceptionWrapper  # noqa: PLC0415  # the host has imported torch

    return isinstance(data, ExceptionWrapper)


def _is_python_ending() -> bool:
    from torch.utils.data import _utils  # noqa: PLC0415  # the host has imported torch

    return _utils is None or _utils.python_exit_status is not False


def _pinning_mailbox(device: Any) -> PinningMailbox:
    import torch  # noqa: PLC0415  # the host has imported it
    from torch.utils.data._utils.pin_memory import pin_memory  # noqa: PLC0415  # as above

    index = torch.accelerator.current_device_index() if hasattr(torch, "accelerator") else torch.cuda.current_device()

    def prepare_thread() -> None:
        torch.set_num_threads(1)
        (torch.accelerator.set_device_index if hasattr(torch, "accelerator") else torch.cuda.set_device)(index)

    return PinningMailbox(lambda data: data if _is_wrapped_exception(data) else pin_memory(data, device), prepare_thread)
