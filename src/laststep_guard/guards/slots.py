"""Which batch is built by which slot, from which random states, and which are still owed?

Results depend on which worker builds which batch, since every worker draws from random states of its own. So the unit
is not the process but the *slot*: slot k of W builds the batches k, k + W, …, and every batch comes back with the
slot's random states after it. Whatever process serves a slot next continues from the last states that came back, so a
rebuilt loader, or one with fewer processes, yields what an undisturbed one would have.

This file knows no processes and no torch: it is told what was sent, begun, received and lost.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any, Deque, Iterator, List, Optional, Sequence, Tuple

_KEPT = 4  # batches that may have been handed over ahead of the trainer; accelerate's loaders read one ahead


def _make_history() -> "Deque[Tuple[int, Any]]":
    return deque(maxlen=_KEPT)


@dataclass(eq=False)
class Task:
    """One batch that was asked for and not yet handed over."""

    number: int  # position in the epoch
    slot: "Slot"
    index: Any  # what the sampler gave
    is_sent: bool = False
    is_done: bool = False
    deaths: int = 0  # processes that died while they built it
    result: Any = None
    state_after: Any = None  # the slot's random states after it, None when they did not change


@dataclass(eq=False)
class Slot:
    """One of the W workers that were asked for, whatever process does its work."""

    number: int
    process: int = 0  # key of the process that serves it
    is_active: bool = True  # False once its iterable data set has ended
    state_received: Any = None  # random states after the newest batch that came back; None: as first seeded
    state_handed: Any = None  # random states after the newest batch that was handed over
    handed: Deque[Tuple[int, Any]] = field(default_factory=_make_history)  # the newest ones: (number, states after)
    state_epoch: Any = None  # random states at the beginning of this epoch
    is_state_sent: bool = True  # the serving process is where `state_received` is, or on its way there
    batches_received: int = 0  # in this epoch; an iterable data set is replayed that far


class SlotPlan:
    """The tasks of one loader, in the order in which they are handed over."""

    def __init__(self, slots: int) -> None:
        self.slots: List[Slot] = [Slot(number, process=number) for number in range(slots)]
        self.tasks: OrderedDict[int, Task] = OrderedDict()
        self._next_number = 0
        self._next_slot = 0

    def begin_epoch(self, first: int = 0) -> None:
        """Forget the tasks and start at slot 0 again; random states go on, as those of persistent workers do.

        An epoch that is taken up again begins with the batch `first`, and so with the slot whose turn it was.
        """
        self.tasks.clear()
        self._next_number, self._next_slot = first, first % len(self.slots)
        for slot in self.slots:
            slot.is_active = True
            slot.batches_received = 0
            slot.state_handed = slot.state_epoch = slot.state_received
            slot.handed.clear()

    def add(self, index: Any) -> Optional[Task]:
        """Plan the next batch; None when no slot is active any more."""
        for _ in self.slots:
            slot = self.slots[self._next_slot]
            self._next_slot = (self._next_slot + 1) % len(self.slots)
            if slot.is_active:
                task = Task(self._next_number, slot, index)
                self.tasks[task.number] = task
                self._next_number += 1
                return task
        return None

    def unsent(self) -> Iterator[Task]:
        """Yield the tasks to send, in order."""
        return (task for task in list(self.tasks.values()) if not task.is_sent and task.slot.is_active)

    def in_flight(self) -> List[Task]:
        """List the tasks that were sent and not yet handed over."""
        return [task for task in self.tasks.values() if task.is_sent]

    def building(self, process: Optional[int] = None) -> List[Task]:
        """List the tasks that were sent and have not come back, of one process or of all."""
        return [
            task
            for task in self.tasks.values()
            if task.is_sent and not task.is_done and (process is None or task.slot.process == process)
        ]

    def receive(self, number: int, *, result: Any, state_after: Any) -> None:
        """Take in a batch that came back."""
        task = self.tasks[number]
        slot = task.slot
        task.is_done, task.result = True, result
        slot.batches_received += 1
        if state_after is not None:
            slot.state_received = state_after
        task.state_after = slot.state_received

    def end_slot(self, number: int) -> None:
        """Note that the data set of a slot has ended; its owed tasks are void."""
        slot = self.tasks[number].slot
        slot.is_active = False
        for task in [task for task in self.tasks.values() if task.slot is slot and not task.is_done]:
            del self.tasks[task.number]

    def lose(self, process: int, *, building: Optional[int]) -> Tuple[List[Task], Optional[Task]]:
        """Take back what a process that is gone still owed, to be sent again from the last known states.

        Gives those tasks, and the one among them that the process was building when it ended; `building` is its number,
        None when it ended between two batches.
        """
        lost = self.building(process)
        blamed = next((task for task in lost if task.number == building), None)
        if blamed is not None:
            blamed.deaths += 1
        for task in lost:
            task.is_sent = False
        for slot in self.served_by(process):
            slot.is_state_sent = False
        return lost, blamed

    def drop_results(self) -> int:
        """Throw away the batches that wait to be handed over, to build them again later; return how many.

        Only sound while nothing is being built: a process ahead of the states kept here would go on from its own.
        """
        dropped = [task for task in self.tasks.values() if task.is_done]
        for task in dropped:
            task.is_sent = task.is_done = False
            task.result = task.state_after = None
            task.slot.batches_received -= 1
        for slot in {id(task.slot): task.slot for task in dropped}.values():
            slot.state_received, slot.is_state_sent = slot.state_handed, False
        return len(dropped)

    def hand_over(self) -> Optional[Task]:
        """Take out the next batch in order; None when it has not come back yet."""
        head = self.head()
        if head is None or not head.is_done:
            return None
        del self.tasks[head.number]
        head.slot.state_handed = head.state_after
        head.slot.handed.append((head.number, head.state_after))
        return head

    def states_before(self, number: int) -> List[Any]:
        """List the random states of each slot as they are before the batch `number`; None: as first seeded."""
        return [
            next((state for at, state in reversed(slot.handed) if at < number), slot.state_epoch) for slot in self.slots
        ]

    def set_states(self, states: Sequence[Any]) -> None:
        """Let each slot go on from random states that another run of it had; None: as first seeded."""
        for slot in self.slots:
            slot.state_received = slot.state_handed = slot.state_epoch = states[slot.number]
            slot.is_state_sent = slot.state_received is None

    def head(self) -> Optional[Task]:
        """Give the task whose turn it is; None when nothing is owed."""
        return next(iter(self.tasks.values()), None)

    def move(self, slot: Slot, process: int) -> None:
        """Let another process serve a slot that owes nothing."""
        slot.process = process
        slot.is_state_sent = False

    def owes(self, slot: Slot) -> bool:
        """Tell whether a batch of a slot is being built."""
        return any(task.slot is slot for task in self.building())

    def served_by(self, process: int) -> List[Slot]:
        """List the slots of a process."""
        return [slot for slot in self.slots if slot.process == process]
