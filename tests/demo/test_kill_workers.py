"""Workers are killed at the planned moments, and nobody else is."""

import contextlib
import json
import os
import subprocess
import sys
import time

import psutil
import pytest

from laststep.demo.kill_workers import WorkerKiller, at_step, in_phase
from laststep_guard import wire

# A rank with two forked workers; like loader workers they carry the command line of their parent.
RANK = """
import os, sys, time
for _ in range(2):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
print("up", flush=True)
time.sleep(60)
"""


@pytest.fixture
def rank():
    """A process with two workers."""
    process = subprocess.Popen([sys.executable, "-c", RANK], stdout=subprocess.PIPE)
    process.stdout.readline()
    workers = [child.pid for child in psutil.Process(process.pid).children()]
    yield process.pid, workers
    for pid in [*workers, process.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
    process.wait()
    process.stdout.close()


@pytest.fixture
def run_folder(tmp_path, rank):
    """A run folder in which the rank has named its workers."""
    pid, workers = rank
    attempt = tmp_path / "attempts" / "1"
    (attempt / "events").mkdir(parents=True)
    (attempt / "beats").mkdir()
    event = {"time": 1.0, "kind": "workers_started", "pid": pid, "rank": 0, "loader": "train", "workers": workers}
    (attempt / "events" / wire.events_name(pid)).write_text(json.dumps(event) + "\n")
    return tmp_path


def beat(folder, pid, *, step, phase=wire.Phase.STEP):
    data = bytearray(wire.BEAT_BYTES)
    wire.pack_head(data, rank=0, local_rank=0, world_size=1, pid=pid, started_at=1.0)
    wire.pack_body(data, 1, phase, 0, 0, step, 14, 2.0, 2.0)
    (folder / "attempts" / "1" / "beats" / wire.beat_name(0)).write_bytes(data)


def is_dead(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_nothing_happens_before_the_occasion(run_folder, rank):
    killer = WorkerKiller([at_step(5)], lambda: 9.0)
    killer.look(run_folder)
    beat(run_folder, rank[0], step=4)
    killer.look(run_folder)
    assert not killer.kills
    assert [occasion.en for occasion in killer.missed] == ["step 5"]


def test_as_many_as_planned_are_killed_at_the_occasion(run_folder, rank):
    pid, workers = rank
    beat(run_folder, pid, step=5)
    killer = WorkerKiller([at_step(5), in_phase(wire.Phase.SAVE, after_step=5)], lambda: 9.0)

    killer.look(run_folder)
    wait_for(lambda: any(map(is_dead, workers)))
    beat(run_folder, pid, step=5, phase=wire.Phase.SAVE)
    killer.look(run_folder)

    wait_for(lambda: all(map(is_dead, workers)))
    assert {kill.worker for kill in killer.kills} == set(workers)
    assert [kill.occasion.en for kill in killer.kills] == ["step 5", "during save"]
    assert not killer.missed


def test_it_waits_while_too_few_are_alive(run_folder, rank):
    beat(run_folder, rank[0], step=5)
    killer = WorkerKiller([at_step(5, victims=3)], lambda: 9.0)
    killer.look(run_folder)
    assert not killer.kills


def test_a_number_that_went_to_another_process_is_not_hit(run_folder, rank):
    """The named worker is no child of the rank (here: this very test), so it is left alone."""
    events = run_folder / "attempts" / "1" / "events" / wire.events_name(rank[0])
    event = json.loads(events.read_text()) | {"workers": [os.getpid(), *rank[1]]}
    events.write_text(json.dumps(event) + "\n")
    beat(run_folder, rank[0], step=5)
    killer = WorkerKiller([at_step(5, victims=2)], lambda: 9.0)
    killer.look(run_folder)
    assert {kill.worker for kill in killer.kills} == set(rank[1])
