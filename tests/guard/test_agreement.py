"""All ranks save at one step or none does, however they are interleaved, and nobody waits for ever."""

import json
import random
import threading
import time

import pytest

from laststep.host.clock import SystemClock
from laststep.launch.ask_for_save import Progress, SaveRequest
from laststep_guard import wire
from laststep_guard.guards import agreement
from laststep_guard.guards.agreement import Agreement
from laststep_guard.guards.heartbeat import Heartbeat, open_heartbeat


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self):
        self.slept = 0.0

    def sleep(self, seconds):
        self.slept += seconds


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def propose(folder, number, step, *, stop=False):
    beside = folder / "new"
    beside.write_text(json.dumps({"number": number, "step": step, "stop": stop}))
    beside.replace(folder / wire.PROPOSAL_NAME)


def test_without_a_proposal_nothing_is_answered(folder):
    heartbeat = Heartbeat()

    assert Agreement(str(folder)).look(3, heartbeat) is None
    assert heartbeat.answer == 0


def test_a_decided_proposal_is_followed_at_its_step_and_once(folder):
    ranks, heartbeat = Agreement(str(folder)), Heartbeat()
    propose(folder, 1, 5, stop=True)

    assert ranks.look(4, heartbeat) is None
    assert heartbeat.answer == 1
    wire.decide(str(folder), 1, wanted=True)
    assert ranks.look(5, heartbeat).stop
    assert ranks.look(6, heartbeat) is None


def test_a_proposal_that_comes_too_late_is_refused(folder):
    ranks, heartbeat = Agreement(str(folder)), Heartbeat()
    propose(folder, 1, 5)

    assert ranks.look(6, heartbeat) is None
    assert heartbeat.answer == -1
    propose(folder, 2, 7)
    wire.decide(str(folder), 2, wanted=True)
    assert ranks.look(7, heartbeat) is not None
    assert heartbeat.answer == 2


def test_who_waits_in_vain_decides_against_it_for_all(folder):
    """The holder was killed between its proposal and its decision."""
    clock = Clock()
    ranks = Agreement(str(folder), clock=clock)
    propose(folder, 1, 5)

    assert ranks.look(5, Heartbeat()) is None
    assert clock.slept == pytest.approx(30, abs=0.1)
    assert wire.decide(str(folder), 1, wanted=True) is False


@pytest.mark.parametrize("text", ["", "{", "[]", '{"number": 1}', '{"number": "x", "step": 1, "stop": 0}'])
def test_a_garbled_proposal_is_none(folder, text):
    (folder / wire.PROPOSAL_NAME).write_text(text)
    heartbeat = Heartbeat()

    assert Agreement(str(folder)).look(1, heartbeat) is None
    assert heartbeat.answer == 0


def test_a_decision_is_made_once(tmp_path):
    assert wire.read_decision(str(tmp_path), 1) is None
    assert wire.decide(str(tmp_path), 1, wanted=False) is False
    assert wire.decide(str(tmp_path), 1, wanted=True) is False
    assert wire.read_decision(str(tmp_path), 1) is False
    assert wire.decide(str(tmp_path), 2, wanted=True) is True


# -- many ranks, interleaved by chance --------------------------------------------------------------------------------


class World:
    """Ranks that exchange gradients in every step, some of them ahead of the others by what a device has queued."""

    def __init__(self, folder, *, ranks, slack, seed):
        self.folder, self.ranks, self.slack = folder, ranks, slack
        self.chance = random.Random(seed)
        self.ended = [0] * ranks  # steps
        self.saved = [[] for _ in range(ranks)]
        self.moved = threading.Condition()
        self.is_over = False
        self.beats = folder / "beats"
        self.beats.mkdir()
        self.threads = [threading.Thread(target=self.train, args=(rank,), daemon=True) for rank in range(ranks)]

    def train(self, rank):
        heartbeat = open_heartbeat(str(self.beats), rank=rank, local_rank=rank, world_size=self.ranks)
        heartbeat.flags = wire.Flag.TRAINER_SEEN | wire.Flag.TAKES_REQUESTS
        chance, mine = random.Random(self.chance.random()), Agreement(str(self.folder))
        step = 0
        while not self.is_over:
            step += 1
            # Nobody ends a step before all have begun the one that is `slack` steps before it.
            with self.moved:
                while min(self.ended) < step - 1 - self.slack and not self.is_over:
                    self.moved.wait(0.05)
            time.sleep(chance.choice((0, 0, 0.0005, 0.002)))
            heartbeat.step = step
            heartbeat.beat()
            if mine.look(step, heartbeat) is not None:
                self.saved[rank].append(step)
                heartbeat.last_save = step
                heartbeat.beat()
            with self.moved:
                self.ended[rank] = step
                self.moved.notify_all()

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(10)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("slack", [0, 2])
def test_all_ranks_save_at_the_same_steps(tmp_path, monkeypatch, seed, slack):
    monkeypatch.setattr(agreement, "_LONGEST_WAIT_SECONDS", 3.0)
    world = World(tmp_path, ranks=3, slack=slack, seed=seed)
    for thread in world.threads:
        thread.start()
    chance, number, steps = random.Random(seed), 1, []
    while min(world.ended) < 2:
        time.sleep(0.001)
    try:
        for _ in range(4):
            time.sleep(chance.uniform(0, 0.02))
            request = SaveRequest(str(tmp_path), str(world.beats), SystemClock(), stop=False, number=number)
            assert request.begin()
            began = time.monotonic()
            while request.look() in (Progress.ASKING, Progress.DECIDED):
                time.sleep(chance.uniform(0, 0.01))
            assert time.monotonic() - began < 2.5, "a rank waited for what could not come"
            assert request.progress is Progress.SAVED
            steps.append(request.step)
            number = request.number + 1
    finally:
        world.end()

    assert world.saved == [steps] * 3


def test_the_step_path_costs_microseconds(folder):
    """One look at a file that is not there."""
    mine, heartbeat = Agreement(str(folder)), Heartbeat()
    began = time.perf_counter()
    for step in range(2000):
        mine.look(step, heartbeat)

    assert (time.perf_counter() - began) / 2000 < 100e-6
