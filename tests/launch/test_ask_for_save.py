"""The holder asks ranks that can be asked, and knows when they cannot come."""

import errno
import json
import os
import subprocess
import sys

import pytest

from laststep.launch.ask_for_save import Progress, SaveRequest, SaveRequests
from laststep_guard import wire

LISTENING = wire.Flag.TRAINER_SEEN | wire.Flag.TAKES_REQUESTS


class Clock:
    """A clock that moves when told."""

    seconds = 0.0

    def monotonic(self):
        return self.seconds

    def sleep(self, seconds):
        self.seconds += seconds


@pytest.fixture
def places(tmp_path):
    for name in ("beats", "requests"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gone():
    """The pid of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def write_beat(places, rank=0, *, world_size=2, step=3, target=10, flags=LISTENING, pid=None, answer=0, last_save=0):
    data = bytearray(wire.BEAT_BYTES)
    pid = os.getpid() if pid is None else pid
    wire.pack_head(data, rank=rank, local_rank=rank, world_size=world_size, pid=pid, started_at=0.0)
    wire.pack_body(data, 1, wire.Phase.STEP, flags, 0, step, target, 0.0, 0.0, last_save, answer)
    (places / "beats" / wire.beat_name(rank)).write_bytes(data)


def make_request(places, clock, *, stop=False, number=1):
    return SaveRequest(str(places / "requests"), str(places / "beats"), clock, stop=stop, number=number)


def read_proposal(places):
    return json.loads((places / "requests" / wire.PROPOSAL_NAME).read_text())


def test_the_step_after_the_furthest_rank_is_proposed_and_decided_when_all_agree(places, clock):
    write_beat(places, 0, step=3)
    write_beat(places, 1, step=4)
    request = make_request(places, clock, stop=True)

    assert request.begin()
    assert read_proposal(places) == {"number": 1, "step": 5, "stop": True}
    write_beat(places, 0, answer=1)
    assert request.look() is Progress.ASKING
    write_beat(places, 1, answer=1)
    assert request.look() is Progress.DECIDED
    assert wire.read_decision(str(places / "requests"), 1) is True


@pytest.mark.parametrize(("last_save", "progress"), [(5, Progress.SAVED), (-5, Progress.FAILED), (7, Progress.SAVED)])
def test_a_save_is_over_when_all_have_left_it(places, clock, gone, last_save, progress):
    for rank in range(2):
        write_beat(places, rank, step=4)
    request = make_request(places, clock)
    request.begin()
    for rank in range(2):
        write_beat(places, rank, step=5, answer=1, last_save=0)
    assert request.look() is Progress.DECIDED
    write_beat(places, 0, step=5, answer=1, last_save=5, pid=gone)  # it has saved and left
    assert request.look() is Progress.DECIDED
    write_beat(places, 1, step=5, answer=1, last_save=last_save)

    assert request.look() is progress


def test_a_rank_that_dies_in_the_save_ends_the_waiting(places, clock, gone):
    for rank in range(2):
        write_beat(places, rank, step=4)
    request = make_request(places, clock)
    request.begin()
    for rank in range(2):
        write_beat(places, rank, step=5, answer=1)
    request.look()
    write_beat(places, 1, step=5, answer=1, pid=gone)

    assert request.look() is Progress.GIVEN_UP


def test_a_rank_that_was_too_fast_gets_a_later_step(places, clock):
    for rank in range(2):
        write_beat(places, rank, step=3)
    request = make_request(places, clock)
    request.begin()
    write_beat(places, 0, step=5, answer=-1)

    assert request.look() is Progress.ASKING
    assert wire.read_decision(str(places / "requests"), 1) is False
    assert read_proposal(places) == {"number": 2, "step": 7, "stop": False}


def test_a_rank_that_went_past_without_a_word_is_not_waited_for(places, clock):
    """It may be waiting in the next step for those that wait for the decision."""
    for rank in range(2):
        write_beat(places, rank, step=3)
    request = make_request(places, clock)
    request.begin()
    write_beat(places, 0, step=4, answer=1)
    write_beat(places, 1, step=4)  # between its end of the step and its answer lie microseconds

    assert request.look() is Progress.ASKING
    assert request.number == 1
    clock.seconds = 0.2
    request.look()
    assert (request.number, request.step) == (2, 6)


@pytest.mark.parametrize(
    "beats",
    [
        [],
        [{"world_size": 2}],  # the other one is on another machine, or has not come yet
        [{"world_size": 1, "flags": wire.Flag.TRAINER_SEEN}],
        [{"world_size": 1, "step": 10, "target": 10}],
    ],
    ids=["no training", "not all ranks", "not listening", "at its end"],
)
def test_who_cannot_be_asked_is_not(places, clock, beats):
    for rank, values in enumerate(beats):
        write_beat(places, rank, **values)

    assert not make_request(places, clock).begin()


def test_a_dead_rank_is_not_asked(places, clock, gone):
    write_beat(places, 0, world_size=1, pid=gone)

    assert not make_request(places, clock).begin()


def test_who_handles_sigterm_itself_is_not_asked_to_stop(places, clock):
    write_beat(places, 0, world_size=1, flags=LISTENING | wire.Flag.STOPS_BY_ITSELF)

    assert not make_request(places, clock, stop=True).begin()
    assert make_request(places, clock).begin()


def test_the_last_step_is_proposed_at_most(places, clock):
    write_beat(places, 0, world_size=1, step=8, target=9)
    request = make_request(places, clock)
    request.begin()
    write_beat(places, 0, world_size=1, step=9, target=9, answer=-1)

    assert request.step == 9
    assert request.look() is Progress.GIVEN_UP


def tear(places, rank=0):
    """Leave a beat as it is in the middle of being written."""
    path = places / "beats" / wire.beat_name(rank)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_a_beat_that_is_being_written_is_read_again(places, clock, monkeypatch):
    """Otherwise a save would be given up, or taken for done, because of a moment."""
    for rank in range(2):
        write_beat(places, rank, step=3)
    request = make_request(places, clock)
    tear(places, 1)
    monkeypatch.setattr(clock, "sleep", lambda _seconds: write_beat(places, 1, step=3))
    assert request.begin()

    write_beat(places, 0, step=4, answer=1, last_save=4)
    tear(places, 1)
    assert request.look() is Progress.ASKING
    write_beat(places, 1, step=4, answer=1)
    assert request.look() is Progress.DECIDED
    tear(places, 1)
    assert request.look() is Progress.DECIDED


def test_one_that_stays_torn_is_not_waited_for(places, clock):
    write_beat(places, 0, world_size=1)
    tear(places)

    assert not make_request(places, clock).begin()
    assert clock.seconds < 1


def test_a_decision_that_cannot_be_written_ends_the_request_and_not_the_holder(places, clock, monkeypatch):
    """The disk of the run folder is full, or knows no links; the holder is what keeps the run alive."""

    def refuse(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    write_beat(places, 0, world_size=1)
    request = make_request(places, clock)
    request.begin()
    write_beat(places, 0, world_size=1, answer=1)
    monkeypatch.setattr(os, "symlink", refuse)

    assert request.look() is Progress.GIVEN_UP
    request.cancel()


class Told(list):
    """Remembers what was told."""

    def __call__(self, **values):
        self.append(tuple(values.values()))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def requests(places, clock, told):
    return SaveRequests(str(places / "requests"), str(places / "beats"), clock=clock, tell=told)


def test_what_becomes_of_a_request_is_told(places, requests, told):
    write_beat(places, 0, world_size=1)
    assert requests.ask(stop=False)
    assert requests.ask(stop=False)  # somebody else: one save serves both
    write_beat(places, 0, world_size=1, step=4, answer=1)
    requests.look()
    write_beat(places, 0, world_size=1, step=4, answer=1, last_save=4)

    assert requests.look() is Progress.SAVED
    assert told == [("saving", 4), ("saved", 4)]
    assert not requests.is_under_way
    assert requests.look() is None


def test_a_stop_takes_the_place_of_a_save_that_is_not_decided(places, requests, told):
    write_beat(places, 0, world_size=1)
    requests.ask(stop=False)
    requests.ask(stop=True)

    assert wire.read_decision(str(places / "requests"), 1) is False
    assert read_proposal(places) == {"number": 2, "step": 4, "stop": True}


def test_who_cannot_be_asked_is_told_except_of_a_command_that_trains_nothing(places, requests, told):
    assert not requests.ask(stop=True)
    assert told == []
    assert not requests.ask(stop=False)
    write_beat(places, 0, flags=wire.Flag(0))
    assert not requests.ask(stop=True)
    assert told == [("cannot_save",)] * 2


def test_a_refusal_stays_until_somebody_is_asked_again(places, requests):
    refused = places / "requests" / wire.REFUSED_NAME
    requests.refuse()
    assert refused.exists()
    write_beat(places, 0, world_size=1)
    requests.ask(stop=False)
    assert not refused.exists()


def test_without_a_folder_nobody_is_asked(told, clock):
    requests = SaveRequests(None, None, clock=clock, tell=told)

    assert not requests.ask(stop=False)
    assert requests.take_wish() is None


def test_wishes_of_ranks_are_taken_once_and_a_stop_is_stronger(places, requests):
    assert requests.take_wish() is None
    for pid, what in ((7, "save"), (8, "stop"), (9, "save")):
        (places / "requests" / wire.wish_name(pid)).write_text(what)
    (places / "requests" / f"{wire.wish_name(5)}.new").write_text("sto")

    assert requests.take_wish() == "stop"
    assert requests.take_wish() is None
