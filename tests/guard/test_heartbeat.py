"""A beat survives its writer and costs next to nothing."""

import os
import timeit

import pytest

from laststep_guard import wire
from laststep_guard.guards.heartbeat import open_heartbeat
from laststep_guard.wire import Flag, Phase


def read(folder, rank=0):
    return wire.read_beat((folder / wire.beat_name(rank)).read_bytes())


def test_what_is_beaten_can_be_read(tmp_path):
    heartbeat = open_heartbeat(str(tmp_path), rank=3, local_rank=1, world_size=4)
    heartbeat.step, heartbeat.target_step, heartbeat.flags = 7, 14, Flag.TRAINER_SEEN

    heartbeat.enter(Phase.SAVE)

    beat = read(tmp_path, 3)
    assert (beat.rank, beat.local_rank, beat.world_size, beat.pid) == (3, 1, 4, os.getpid())
    assert (beat.step, beat.target_step, beat.phase, beat.flags) == (7, 14, Phase.SAVE, Flag.TRAINER_SEEN)


def test_a_forked_child_does_not_write_its_parents_beat(tmp_path):
    heartbeat = open_heartbeat(str(tmp_path), rank=0, local_rank=0, world_size=1)
    child = os.fork()
    if child == 0:
        heartbeat.step = 99
        heartbeat.beat()
        os._exit(0)
    os.waitpid(child, 0)

    assert read(tmp_path).step == 0


def test_a_living_writer_keeps_its_beat(tmp_path):
    """A second process with the same rank (a helper that inherits RANK) writes nothing."""
    path = tmp_path / wire.beat_name(0)
    buffer = bytearray(wire.BEAT_BYTES)
    wire.pack_head(buffer, rank=0, local_rank=0, world_size=1, pid=os.getppid(), started_at=1.0)
    path.write_bytes(bytes(buffer))

    open_heartbeat(str(tmp_path), rank=0, local_rank=0, world_size=1).beat()

    assert read(tmp_path).pid == os.getppid()


def test_without_a_place_to_write_nothing_happens():
    open_heartbeat(None, rank=0, local_rank=0, world_size=1).enter(Phase.STEP)


def test_a_torn_beat_is_told(tmp_path):
    heartbeat = open_heartbeat(str(tmp_path), rank=0, local_rank=0, world_size=1)
    heartbeat.beat()
    data = bytearray((tmp_path / wire.beat_name(0)).read_bytes())
    data[-1] ^= 1

    assert wire.read_beat(bytes(data)) is None
    assert wire.read_beat(b"") is None


@pytest.mark.parametrize("repeat", [5])
def test_a_beat_takes_at_most_two_microseconds(tmp_path, repeat):
    """The best of several rounds, since the machine may be busy with other things."""
    heartbeat = open_heartbeat(str(tmp_path), rank=0, local_rank=0, world_size=1)

    seconds = min(timeit.repeat(heartbeat.beat, number=10_000, repeat=repeat)) / 10_000

    assert seconds <= 2e-6
