"""What is this rank doing, at which step, since when?

A few bytes in a memory-mapped file, written in place. The map outlives a SIGKILL of its writer, so the last step of a
dead rank can still be read. The file is allocated before it is mapped: a sparse map on a full disk would end in SIGBUS.
"""

import mmap
import os
import struct
import time
from typing import Optional

from laststep_guard import wire
from laststep_guard.wire import Flag, Phase


class Heartbeat:
    """Writes the beat of one rank. Without a place to write it keeps the same state and writes nothing."""

    def __init__(self, buffer: Optional[mmap.mmap] = None) -> None:
        self._buffer = buffer
        self._pid = os.getpid()
        self._sequence = 0
        self.phase = Phase.START
        self.flags = Flag(0)
        self.step = 0
        self.target_step = 0
        self.micro_step = 0
        self.last_save = 0
        self.answer = 0
        self._phase_since = time.time()

    def enter(self, phase: Phase) -> None:
        """Begin a phase."""
        if phase is not self.phase:
            self.phase = phase
            self._phase_since = time.time()
        self.beat()

    def beat(self) -> None:
        """Write the state as it is now. This is the step path: one clock, one pack."""
        if self._buffer is None:
            return
        self._sequence += 1
        try:
            wire.pack_body(
                self._buffer, self._sequence, self.phase, self.flags, self.micro_step, self.step, self.target_step,
                time.time(), self._phase_since, self.last_save, self.answer,
            )  # fmt: skip
        except (struct.error, TypeError, ValueError):
            self._buffer = None  # a step that is no number is no reason to end a training

    def leave_to_parent(self) -> None:
        """In a forked child: the beat stays the parent's."""
        self._buffer = None


def open_heartbeat(folder: Optional[str], *, rank: int, local_rank: int, world_size: int) -> Heartbeat:
    """Open the beat of a rank. Another living process that already writes it keeps it; then this one writes nothing."""
    if folder is None:
        return Heartbeat()
    path = os.path.join(folder, wire.beat_name(rank))
    if _written_by_another(path):
        return Heartbeat()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, wire.BEAT_BYTES)
        buffer = mmap.mmap(descriptor, wire.BEAT_BYTES)
    finally:
        os.close(descriptor)
    wire.pack_head(
        buffer, rank=rank, local_rank=local_rank, world_size=world_size, pid=os.getpid(), started_at=time.time()
    )
    heartbeat = Heartbeat(buffer)
    os.register_at_fork(after_in_child=heartbeat.leave_to_parent)
    heartbeat.beat()
    return heartbeat


def _written_by_another(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            beat = wire.read_beat(file.read())
    except OSError:
        return False
    if beat is None or beat.pid == os.getpid():
        return False
    try:
        os.kill(beat.pid, 0)
    except OSError:
        return False
    return True
