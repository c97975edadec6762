"""The log takes what it can and says what it could not."""

import os
import socket

import pytest

from laststep.launch import client_feed
from laststep.launch.client_feed import ClientFeed
from laststep.launch.messages import Kind, make_pair, receive
from laststep.launch.output import OutputLog


class FakeClock:
    """A clock that moves when told."""

    def __init__(self):
        self.seconds = 0.0

    def now(self):
        return self.seconds

    monotonic = now

    def sleep(self, seconds):
        self.seconds += seconds


@pytest.fixture
def clock():
    return FakeClock()


def test_what_is_added_can_be_read_back(tmp_path, clock):
    log = OutputLog(str(tmp_path / "log"), clock)

    assert [log.add(b"one"), log.add(b"two")] == [0, 3]
    assert log.read(3, 3) == b"two"


def test_a_folder_that_is_not_there_costs_the_copy_and_is_tried_again(tmp_path, clock):
    log = OutputLog(str(tmp_path / "later" / "log"), clock)
    assert log.add(b"lost") is None
    assert log.problem == "No such file or directory"
    (tmp_path / "later").mkdir()

    assert log.add(b"too soon") is None
    clock.sleep(6)

    assert log.add(b"kept") == 0
    assert (log.dropped_bytes, log.problem) == (12, None)
    assert (tmp_path / "later" / "log").read_bytes() == b"kept"


def test_without_a_log_nothing_counts_as_dropped(clock):
    log = OutputLog(None, clock)

    assert (log.add(b"x"), log.dropped_bytes) == (None, 0)


def drain(client):
    client.setblocking(False)
    messages = []
    while True:
        try:
            message = receive(client)
        except BlockingIOError:
            return messages
        if message is None:
            return messages
        messages.append(message)


def feed_to_the_end(feed, client):
    messages = []
    while feed.is_waiting:
        assert feed.pump()
        messages += drain(client)
    return messages


@pytest.fixture
def pair():
    ours, theirs = make_pair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
    yield ours, theirs
    ours.close()
    theirs.close()


def test_a_client_that_fell_behind_gets_everything_in_order_and_the_last_word_last(tmp_path, clock, pair):
    log = OutputLog(str(tmp_path / "log"), clock)
    feed = ClientFeed(pair[0], log)
    sent = [(Kind.OUTPUT_STDOUT if n % 3 else Kind.OUTPUT_STDERR, os.urandom(30_000)) for n in range(300)]

    for kind, data in sent:
        feed.offer_output(kind, data, log.add(data))
    feed.offer_last(b"\x06")
    messages = feed_to_the_end(feed, pair[1])

    for kind in (Kind.OUTPUT_STDOUT, Kind.OUTPUT_STDERR):
        got = b"".join(message.content for message in messages if message.kind is kind)
        assert got == b"".join(data for each, data in sent if each is kind)
    assert messages[-1].kind is Kind.ENDED


def test_what_the_log_did_not_take_reaches_a_client_that_fell_behind_in_its_order(tmp_path, clock, pair):
    """As when the disk fills while the terminal is slow."""
    log = OutputLog(str(tmp_path / "log"), clock)
    feed = ClientFeed(pair[0], log)
    sent = [os.urandom(30_000) for _ in range(300)]

    for number, data in enumerate(sent):
        feed.offer_output(Kind.OUTPUT_STDOUT, data, log.add(data) if number % 100 < 70 else None)
    messages = feed_to_the_end(feed, pair[1])

    assert b"".join(message.content for message in messages) == b"".join(sent)
    assert {message.kind for message in messages} == {Kind.OUTPUT_STDOUT}


def test_without_a_log_a_client_that_fell_far_behind_is_told_how_much_is_missing(clock, pair, monkeypatch):
    monkeypatch.setattr(client_feed, "_UNLOGGED_BYTES", 1_000_000)
    feed = ClientFeed(pair[0], OutputLog(None, clock))

    for _ in range(300):
        feed.offer_output(Kind.OUTPUT_STDOUT, bytes(30_000), None)
    messages = feed_to_the_end(feed, pair[1])

    got = sum(len(message.content) for message in messages if message.kind is Kind.OUTPUT_STDOUT)
    missing = sum(message.values["left_out_bytes"] for message in messages if message.kind is Kind.NOTICE)
    assert got + missing == 300 * 30_000
    assert missing > 0


def test_a_client_that_is_gone_is_noticed(clock, pair):
    feed = ClientFeed(pair[0], OutputLog(None, clock))
    pair[1].close()

    feed.offer(b"\x05")

    assert not feed.pump()
