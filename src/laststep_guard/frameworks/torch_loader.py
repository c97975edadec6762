"""How does a data loader go on when one of its workers dies?

This is torch's `_MultiProcessingDataLoaderIter` with another engine: it draws the same indices at the same moments and
hands over the same batches in the same order, but what a process owes is known, so that it can be asked of another one.
How much is in flight is bounded by `memory_budget`. What torch offers beyond (data pipes, `in_order=False`) is left
to torch.
"""

import os
import sys
import time
from typing import Any, Callable, Dict, List, Optional

from laststep_guard.frameworks import torch_facts
from laststep_guard.frameworks.torch_appetite import Appetite
from laststep_guard.frameworks.torch_deaths import Deaths, tell_what_is_lost
from laststep_guard.frameworks.torch_processes import LoaderProcess, Mailbox
from laststep_guard.frameworks.torch_taking_up import TakingUp
from laststep_guard.frameworks.torch_worker import BATCH, BUILD, ENDED, RESUME, make_order
from laststep_guard.guardian import Guardian, Rows
from laststep_guard.guards.slots import Slot, SlotPlan, Task
from laststep_guard.wire import EventKind

_LOOK_SECONDS = 0.1  # between looks at the memory while waiting for a heavy batch


def make_engine(stock: Any, guardian: Guardian) -> Any:
    """Make the class that takes the place of torch's multi-process iterator."""
    body = {"_guardian": guardian, "_stock": stock, "_base": stock.__mro__[1], "__module__": stock.__module__}
    return type(stock.__name__, (_Engine, stock), body)


class _Engine(TakingUp):
    """The part that replaces torch's. Mixed in before torch's class, whose base class still draws indices and seeds."""

    _guardian: Guardian
    _stock: Any  # torch's class
    _base: Any  # and its base class
    # Set by torch's base class, besides what TakingUp names:
    _dataset: Any
    _pin_memory: bool
    _pin_memory_device: Any
    _timeout: float

    def __new__(cls, loader: Any) -> Any:
        reason = torch_facts.tell_why_not(loader)
        if reason is not None:
            cls._guardian.emit(EventKind.GUARD_DECLINED, name="loader", reason=reason)
            return cls._stock(loader)
        engine = object.__new__(cls)
        generator, state = torch_facts.save_seed_source(loader)
        with cls._guardian.shield.over("begin a loader"):
            if engine._begin(loader):  # its own method
                generator.set_state(state)
            return engine
        engine._shutdown_workers()  # its own method
        generator.set_state(state)  # torch draws again what was drawn for nothing
        return cls._stock(loader)

    def __init__(self, loader: Any) -> None:
        """Do nothing: `__new__` has done it, and could still turn to torch when it failed."""

    def _begin(self, loader: Any) -> bool:
        """Start; True when the seed that torch drew would not have been drawn without a resume."""
        self._shutdown = True  # until there is something to shut down
        self._pid = os.getpid()
        self._draws = True
        self._label = "evaluate" if self._guardian.state.is_evaluating else "train"
        self._processes: Dict[int, LoaderProcess] = {}
        self._mailbox = Mailbox()
        self._plan = SlotPlan(loader.num_workers)
        self._base.__init__(self, loader)
        self._take_up()
        self._prefetch_factor = loader.prefetch_factor
        self._context = loader.multiprocessing_context or torch_facts.find_multiprocessing()
        self._is_iterable = torch_facts.is_iterable(loader)
        most = self._prefetch_factor * self._num_workers
        self._appetite = Appetite(self._guardian, loader, self._label, most, self._num_workers)
        self._deaths = Deaths(self._guardian, self._label, self._appetite)
        self._order = make_order(loader, self._base_seed)
        self._shutdown = False
        self._start(*range(self._num_workers))
        if self._pin_memory:
            self._mailbox = torch_facts.make_pinning_mailbox(self._pin_memory_device)
        draws_for_nothing = self._goes_on_between_epochs
        self._reset(loader, first_iter=True)
        return draws_for_nothing

    @property
    def _workers(self) -> List[Any]:
        """The worker processes, under torch's name for them."""
        return [process.process for process in self._processes.values()]

    def _reset(self, loader: Any, first_iter: bool = False) -> None:  # noqa: FBT001, FBT002  # torch's signature
        if not first_iter:
            self._finish_owed()
            for process in self._processes.values():
                process.send((RESUME,))
        self._base._reset(self, loader, first_iter)  # noqa: SLF001  # torch's own chain
        self._begin_epoch()
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
        if self._position is not None:
            self._position.handed += 1
        self._draw()
        self._send()
        if torch_facts.is_wrapped_exception(data):
            data.reraise()
        return data

    def _draw(self) -> None:
        """Draw the next index when torch would: the sampler may draw from random states the trainer shares."""
        if not self._draws:
            return
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
            if slot.process != key and not self._plan.owes(slot):
                if key not in self._processes:
                    self._start(key)
                self._plan.move(slot, key)
        for key in [key for key in self._processes if not self._plan.served_by(key)]:
            process = self._processes.pop(key)
            process.end()
            process.join()

    def _is_moving(self, slot: Slot) -> bool:
        return not self._is_iterable and slot.process != slot.number % self._processes_wanted

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
        self._appetite.look(
            self._plan, self._rows(head) if head else None, [process.pid for process in self._processes.values()]
        )

    def _take_in(self, process: LoaderProcess, message: Any) -> None:
        kind, number = message[:2]
        process.unread_bytes.pop(number, None)
        process.read_progress()
        task = self._plan.tasks.get(number)
        if task is None or not task.is_sent:
            return  # void: its data set had ended, or it was taken back
        if kind == ENDED:
            self._end_slot(task, process)
        elif kind == BATCH:
            _, _, data, state, batch_bytes, worker_bytes = message
            self._deaths.note_batch()
            self._plan.receive(number, result=data, state_after=state)
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
        lost, blamed = self._plan.lose(key, building=process.building)
        self._appetite.note_death(code, self._plan)
        self._deaths.judge(process.pid, code, blamed, self._describe(blamed))
        self._start(key)
        read_past = sum(slot.batches_received for slot in self._plan.served_by(key))
        note = tell_what_is_lost(read_past) if self._is_iterable else None
        self._send()
        seconds = time.monotonic() - began
        self._guardian.emit(EventKind.LOADER_REBUILT, loader=self._label, seconds=seconds, resent=len(lost), note=note)

    def _describe(self, task: Optional[Task]) -> List[str]:
        return self._guardian.describe(self._rows(task)) if task is not None else []

    def _rows(self, task: Task) -> Rows:
        return Rows(self._dataset, None if self._is_iterable else task.index)

    # -- beginning and end --------------------------------------------------------------------------------------------

    def _start(self, *keys: int) -> None:
        for key in keys:
            self._processes[key] = LoaderProcess(self._context, self._order)
        self._guardian.emit(
            EventKind.WORKERS_STARTED, loader=self._label, slots=self._num_workers,
            workers=[self._processes[key].pid for key in keys], start_method=self._context.get_start_method(),
        )  # fmt: skip

    def _finish_owed(self) -> None:
        """Let persistent workers build what was asked for and isn't wanted: their random states go on from there."""
        self._draws = False
        while self._plan.head() is not None:
            if self._plan.hand_over() is None:
                self._send()
                self._collect(None)
        self._draws = True

    def _shutdown_workers(self) -> None:
        if self._shutdown or os.getpid() != self._pid or torch_facts.is_python_ending():
            return  # a process forked from the trainer drops its copy of the iterator without a word to our workers
        self._shutdown = True
        for process in self._processes.values():
            process.end()
        self._mailbox.close()
        for process in self._processes.values():
            process.join()
        self._processes = {}
        self._plan.tasks.clear()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # else modules are half gone, and multiprocessing has ended the workers
            self._shutdown_workers()
