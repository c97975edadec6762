"""How much memory may this loader take right now, and what is said when it is too much?

Binds the budget to a living loader: it weighs what comes back, watches what the trainer holds, reads the memory
(often when the batches are heavy, once a second when they are not), and reports every change of course.
"""

import time
import weakref
from typing import Any, Dict, List, Optional, Tuple

from laststep_guard.guardian import Guardian, Rows
from laststep_guard.guards.memory_budget import Allowance, Load, MemoryBudget
from laststep_guard.guards.memory_readings import MemoryReader, MemoryReading, read_own_bytes
from laststep_guard.guards.slots import SlotPlan
from laststep_guard.wire import EventKind

_LIGHT_READ_SECONDS = 1.0
_GROW_AFTER = 3  # readings in a row that would allow more processes
_SIGKILL = -9
_LOW_SHARE, _LOW_BYTES = 0.03, 64 << 20  # of the limit: with less left than this, the kernel may act any moment
_RECOVER_AFTER = 16  # batches handed over without a kill before more may be in flight again


class Appetite:
    """The memory side of one loader iterator."""

    def __init__(self, guardian: Guardian, loader: Any, label: str, most_in_flight: int, most_processes: int) -> None:
        self._guardian = guardian
        self._label = label
        self._most_in_flight = most_in_flight
        self._most_processes = most_processes
        self._is_on = guardian.settings.wants_guard("memory-budget")
        self._reader = MemoryReader()
        self._budget: MemoryBudget = _BUDGETS.setdefault((label, id(loader.dataset), loader.batch_size), MemoryBudget())
        self._reading: Optional[MemoryReading] = None
        self._read_at = 0.0
        self._held: List[weakref.ref[Any]] = []
        self._most_held = 0
        self._handed = 0
        self._own_at_handover = 0
        self._ceiling = most_in_flight  # lowered by a kill, raised again by batches that got through
        self._handed_since_kill = 0
        self._kills = self._reader.read_kills()
        self._would_grow = 0
        self._said: Optional[Tuple[int, int]] = None  # (in flight, processes) that were last reported
        self._said_not_fitting: Optional[int] = None  # number of the batch
        guardian.state.wants_memory_samples = self._is_on

    # -- what was seen ------------------------------------------------------------------------------------------------

    def note_step(self) -> None:
        """Learn from the step that lies behind, as the trainer asks for its next batch."""
        own = self._guardian.state.own_bytes_in_step
        if own and self._own_at_handover:
            self._budget.note_step(max(0, own - self._own_at_handover))
        self._guardian.state.own_bytes_in_step = 0

    def note_handed(self, data: Any) -> None:
        """Remember a batch for as long as the trainer keeps it."""
        tensor = _first_tensor(data)
        self._held = [reference for reference in self._held if reference() is not None]
        if tensor is not None:
            self._held.append(weakref.ref(tensor))
        self._most_held = max(self._most_held, len(self._held))
        self._handed += 1
        self._handed_since_kill += 1
        if self._handed_since_kill % _RECOVER_AFTER == 0:
            self._ceiling = min(self._most_in_flight, self._ceiling * 2)
        self._own_at_handover = read_own_bytes() if self.is_heavy() else 0

    def note_batch(self, batch_bytes: int, worker_bytes: int) -> None:
        """Learn from a batch that came back."""
        self._budget.note_batch(batch_bytes, worker_bytes)

    def note_death(self, code: Optional[int], plan: SlotPlan) -> None:
        """After a SIGKILL, be more modest if memory may have been the reason."""
        kills = self._reader.read_kills()
        was_oom, self._kills = kills > self._kills, kills
        if self._is_on and code == _SIGKILL and (was_oom or self.is_heavy()):
            self._ceiling = max(1, min(self._ceiling, len(plan.in_flight())) // 2)
            self._handed_since_kill = 0

    # -- what follows -------------------------------------------------------------------------------------------------

    def allow(self, plan: SlotPlan) -> Allowance:
        """Say what may be in flight now."""
        if not self._is_on:
            return Allowance(self._most_in_flight, self._most_processes, 0, is_measured=False)
        self._read()
        waiting = sum(1 for task in plan.tasks.values() if task.is_done)
        load = Load(waiting=waiting, held=self._held_now(), will_hold=self._will_hold(), ranks=self._ranks())
        allowance = self._budget.allow(
            self._reading, load, most_in_flight=min(self._most_in_flight, self._ceiling),
            most_processes=min(self._most_processes, self._ceiling),
        )  # fmt: skip
        self._report(allowance)
        return allowance

    def processes_wanted(self, allowance: Allowance, now: int) -> int:
        """Say how many processes should live: fewer at once, more after several readings that allow it."""
        if not allowance.is_measured or allowance.processes == now:
            self._would_grow = 0
            return now
        if allowance.processes < now:
            self._would_grow = 0
            return allowance.processes
        self._would_grow += 1
        return allowance.processes if self._would_grow >= _GROW_AFTER else now

    def is_heavy(self) -> bool:
        """Tell whether the batches are so large that the memory must be watched, or not known yet."""
        if not self._is_on or self._reading is None:
            return self._is_on
        return not self._budget.is_light(self._reading, most_in_flight=self._most_in_flight)

    def look(self, plan: SlotPlan, rows: Optional[Rows], workers: List[int]) -> None:
        """While waiting for a heavy batch: say so before the kernel acts, when there is nothing left to give up."""
        if not self._is_on or len(plan.building()) > 1:
            return
        self._reading, self._read_at = self._reader.read(), time.monotonic()
        head = plan.head()
        if self._reading is None or head is None or head.number == self._said_not_fitting:
            return
        if self._reading.free_bytes > max(_LOW_BYTES, int(self._reading.limit_bytes * _LOW_SHARE)):
            return
        self._said_not_fitting = head.number
        needed = max([self._budget.worker_bytes, *(read_own_bytes(f"/proc/{pid}/statm") for pid in workers)])
        self._guardian.emit(
            EventKind.BATCH_DOES_NOT_FIT, loader=self._label, needed_bytes=needed, free_bytes=self._reading.free_bytes,
            limit=self._reading.limit, limit_bytes=self._reading.limit_bytes, rows=self._guardian.describe(rows),
            held=self._held_now(), batch_bytes=self._budget.batch_bytes,
        )  # fmt: skip

    def explain(self) -> str:
        """Say in one sentence how the memory stands."""
        reading = self._reader.read()
        if reading is None:
            return "How much memory is left could not be read."
        killed = self._reader.read_kills()
        by_kernel = f"The kernel has killed {killed} processes of this group for memory. " if killed else ""
        left = f"{_mebibytes(reading.free_bytes)} of {_mebibytes(reading.limit_bytes)} ({reading.limit})"
        if not self._budget.worker_bytes:
            return f"{by_kernel}Memory left: {left}; no batch has been built yet."
        batch, worker = _mebibytes(self._budget.batch_bytes), _mebibytes(self._budget.worker_bytes)
        return f"{by_kernel}Memory left: {left}; a batch weighs up to {batch} and takes {worker} to build."

    # -- details ------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        now = time.monotonic()
        if self._reading is None or self.is_heavy() or now - self._read_at > _LIGHT_READ_SECONDS:
            self._reading, self._read_at = self._reader.read(), now

    def _held_now(self) -> int:
        return sum(1 for reference in self._held if reference() is not None)

    def _will_hold(self) -> int:
        """Say how many batches the trainer holds at its fullest: an accumulation, until it is seen to hold fewer."""
        if self._label != "train":
            return 1
        accumulation = self._guardian.state.accumulation
        return accumulation if self._handed <= accumulation else min(accumulation + 1, self._most_held + 1)

    def _ranks(self) -> int:
        return max(1, self._guardian.state.local_world_size)

    def _report(self, allowance: Allowance) -> None:
        """Report a change of course worth reading: constrained at all, or twice or half of what was last said."""
        now = (allowance.in_flight, allowance.processes)
        before = self._said or (self._most_in_flight, self._most_processes)
        if not allowance.is_measured or self._reading is None or now == before:
            return
        if now[1] == before[1] and before[0] < 2 * now[0] < 4 * before[0]:
            return
        self._said = now
        kind = EventKind.LOADER_SHRUNK if now < before else EventKind.LOADER_GREW
        self._guardian.emit(
            kind, loader=self._label, in_flight=now[0], processes=now[1], free_bytes=self._reading.free_bytes,
            batch_bytes=self._budget.batch_bytes, worker_bytes=self._budget.worker_bytes, limit=self._reading.limit,
            limit_bytes=self._reading.limit_bytes,
            reason="a worker was killed" if self._ceiling < self._most_in_flight else "memory left",
        )  # fmt: skip


# What batches weigh is remembered across epochs and evaluations, whose iterators (and often loaders) are made anew.
_BUDGETS: Dict[Tuple[str, int, Any], MemoryBudget] = {}


def _first_tensor(data: Any) -> Any:
    if isinstance(data, dict) or hasattr(data, "items"):
        values = list(data.values())
    elif isinstance(data, (list, tuple)):
        values = list(data)
    else:
        return data if hasattr(data, "untyped_storage") else None
    # The largest tensors of a batch come in no fixed place; any one of them lives as long as the batch does.
    return next((tensor for tensor in map(_first_tensor, values) if tensor is not None), None)


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB"
