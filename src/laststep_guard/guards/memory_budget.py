"""How many batches may be in flight, and how many processes may build them, in the memory that is left?

Counts mean nothing when one batch is 2 kB and another 2 GB, so everything is reckoned in bytes. What counts: batches
that wait, batches being built (which need more than they weigh), what the trainer will still take for an
accumulation, and what a step needs beyond what it holds while it fetches.
"""

from dataclasses import dataclass
from typing import Optional

from laststep_guard.guards.memory_readings import MemoryReading

_RESERVE = 0.08  # of the limit: page tables, sockets, other processes
_SMALLEST_RESERVE, _LARGEST_RESERVE = 64 << 20, 1 << 30
_GROWTH = 1.1  # the next batch may be larger than the largest so far
_UNKNOWN_STEP_SHARE = 0.5  # of what is left, until a step has shown what it needs
_FORGET = 0.98  # sizes seen long ago count less and less


@dataclass(frozen=True)
class Load:
    """What is on its way at this moment."""

    waiting: int  # batches built and not handed over
    held: int  # batches handed over that the trainer still holds, as far as known
    will_hold: int  # batches the trainer holds at its fullest (the micro-batches of an accumulation)
    ranks: int = 1  # ranks that share the limit


@dataclass(frozen=True)
class Allowance:
    """What may be in flight."""

    in_flight: int
    processes: int
    room_bytes: int  # what the loader may take in all beyond what is in use now; negative under pressure
    is_measured: bool  # False while the size of a batch is unknown


class MemoryBudget:
    """Learns what a batch weighs and says how many may be in flight. One per data loader; it outlives its iterators."""

    def __init__(self) -> None:
        self.batch_bytes = 0  # of the largest batch, lately
        self.worker_bytes = 0  # that building one takes at its peak, the batch included
        self.step_bytes: Optional[int] = (
            None  # that a step takes beyond what is held while fetching; None: none seen yet
        )

    def note_batch(self, batch_bytes: int, worker_bytes: int) -> None:
        """Learn from a batch that came back."""
        self.batch_bytes = max(batch_bytes, int(self.batch_bytes * _FORGET))
        self.worker_bytes = max(worker_bytes, batch_bytes, int(self.worker_bytes * _FORGET))

    def note_step(self, step_bytes: int) -> None:
        """Learn what a step took beyond what was held while fetching."""
        self.step_bytes = max(step_bytes, int((self.step_bytes or 0) * _FORGET))

    def is_light(self, reading: MemoryReading, *, most_in_flight: int) -> bool:
        """Tell whether the loader's appetite is so small that the memory needn't be read often."""
        appetite = (self.batch_bytes + self.worker_bytes) * most_in_flight
        return self.worker_bytes > 0 and appetite * 16 < min(reading.free_bytes, reading.shm_free_bytes)

    def allow(
        self, reading: Optional[MemoryReading], load: Load, *, most_in_flight: int, most_processes: int
    ) -> Allowance:
        """Say what may be in flight, at least one batch in one process and at most what stock would have."""
        if reading is None:
            return Allowance(most_in_flight, most_processes, 0, is_measured=False)
        if self.worker_bytes == 0:
            return Allowance(1, 1, reading.free_bytes, is_measured=False)
        batch, worker = int(self.batch_bytes * _GROWTH), int(self.worker_bytes * _GROWTH)
        room = self._room(reading, load, batch)
        shm_room = (
            int(reading.shm_free_bytes * (1 - _RESERVE)) // load.ranks - max(0, load.will_hold - load.held) * batch
        )
        for processes in range(most_processes, 0, -1):
            left = min(room - processes * (worker - batch), room)
            more = min(left, shm_room) // max(1, batch)
            in_flight = min(most_in_flight, load.waiting + more)
            if more >= processes and in_flight >= processes:
                return Allowance(int(in_flight), processes, room, is_measured=True)
        return Allowance(1, 1, room, is_measured=True)

    def _room(self, reading: MemoryReading, load: Load, batch: int) -> int:
        reserve = min(max(int(reading.limit_bytes * _RESERVE), _SMALLEST_RESERVE), _LARGEST_RESERVE)
        still_to_hold = max(0, load.will_hold - load.held) * batch
        room = (reading.free_bytes - reserve) // load.ranks
        if self.step_bytes is None:
            return int(room * _UNKNOWN_STEP_SHARE) - still_to_hold
        return room - int(self.step_bytes * _GROWTH) - still_to_hold
