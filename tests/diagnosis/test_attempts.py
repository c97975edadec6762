"""A log that holds several attempts is about the last of them."""

import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.read_log import open_text

BEGIN = "run sh: `/opt/env/bin/python -m torch.distributed.run --nproc_per_node 2 sft.py --model m`\n"
FULL = "OSError: [Errno 28] No space left on device\n"
KILLED = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.\n"
END = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
PEER = "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:3\n"


def read(*parts):
    return diagnose(open_text("".join(parts)), source="a log")


def test_the_last_attempt_counts_and_the_earlier_one_is_told_beside_it():
    seen = read(BEGIN, FULL, END, BEGIN, KILLED, END)

    assert seen.verdict.cause == "host-memory.worker-oom-killed"
    assert [other.cause for other in seen.also] == ["disk.full"]


def test_the_same_cause_twice_is_one():
    seen = read(BEGIN, KILLED, END, BEGIN, KILLED, END)

    assert seen.verdict.cause == "host-memory.worker-oom-killed"
    assert not seen.also


@pytest.mark.parametrize("rest", ["", "Loading checkpoint shards:  50%|# | 2/4 [00:10<00:10]\n"])
def test_an_attempt_that_shows_nothing_leaves_the_earlier_one(rest):
    assert read(BEGIN, FULL, END, BEGIN, rest).verdict.cause == "disk.full"


def test_ranks_that_begin_late_are_no_further_attempt():
    assert read(BEGIN, FULL, BEGIN, KILLED).also == ()


def test_what_an_earlier_cause_drags_along_does_not_take_its_place():
    assert read(BEGIN, FULL, END, BEGIN, PEER, END).verdict.cause == "disk.full"
