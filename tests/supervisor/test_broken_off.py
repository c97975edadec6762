"""A command is taken up again where it was broken off, unless it is another training now."""

import json
import os
import time

import pytest

from laststep.journal.layout import RunFolder
from laststep.journal.writer import Journal, make_attempt_folder
from laststep.records.command import Command
from laststep.records.errors import LaststepError
from laststep.records.request import RunRequest
from laststep.supervisor.broken_off import find_broken_off
from laststep.supervisor.describe_run import describe_run
from laststep_guard import wire
from laststep_guard.emit import Emitter


class FakeClock:
    """A clock that moves when told."""

    seconds = 0.0

    def now(self):
        return self.seconds

    monotonic = now

    def sleep(self, seconds):
        self.seconds += seconds


ARGV = ("swift", "sft", "--dataset", "rows.json", "--seed", "1", "--output_dir", "out")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rows.json").write_text("[1]")
    return tmp_path


@pytest.fixture
def clock():
    return FakeClock()


def request(place, *argv):
    return RunRequest(command=Command(argv or ARGV), cwd=place, home=place / "home", environment={})


def add_run(place, run_id="abcde", *, outcome=None, argv=ARGV, has_trained=True):
    folder = RunFolder(place / "home" / "runs" / f"20260101-000000_m_{run_id}")
    place_of_attempt = make_attempt_folder(folder, 1)
    if has_trained:
        Emitter(str(place_of_attempt.events), 0).emit(wire.EventKind.TRAIN_BEGAN, step=0)
    journal = Journal(folder)
    journal.write_run(describe_run(request(place, *argv), run_id=run_id, started_at=1.0))
    if outcome:
        journal.write_report({"outcome": outcome})
    return folder


@pytest.mark.parametrize("outcome", [None, "failed", "stopped", "lost", "without_progress"])
def test_a_run_that_did_not_finish_is_found_again(place, clock, outcome):
    folder = add_run(place, outcome=outcome)

    found = find_broken_off(request(place), clock)

    assert (found.folder.path, found.differences) == (folder.path, ())


@pytest.mark.parametrize("outcome", ["finished", "stopped_early", "command_ended"])
def test_after_a_finished_run_there_is_nothing_to_go_on_with(place, clock, outcome):
    add_run(place, outcome=outcome)

    assert find_broken_off(request(place), clock) is None


def test_what_never_trained_has_nothing_to_go_on_with(place, clock):
    """A misspelt flag, or a command that is no training at all."""
    add_run(place, outcome="failed", has_trained=False)

    assert find_broken_off(request(place), clock) is None


def test_a_run_of_another_output_folder_is_not_ours(place, clock):
    add_run(place, argv=(*ARGV[:-1], "other"))

    assert find_broken_off(request(place), clock) is None


def test_a_changed_flag_and_changed_data_are_named(place, clock):
    add_run(place)
    (place / "rows.json").write_text("[2]")

    found = find_broken_off(request(place, *ARGV[:5], "2", *ARGV[6:]), clock)

    assert [difference.en for difference in found.differences] == [
        "--seed 1 → --seed 2",
        "the content of rows.json is another one",
    ]


def test_a_command_that_names_no_output_folder_is_known_by_its_words(place, clock):
    add_run(place, argv=("python", "train.py"))

    assert find_broken_off(request(place, "python", "train.py"), clock) is not None
    assert find_broken_off(request(place, "python", "train.py", "--lr", "1"), clock) is None


def test_ranks_that_outlived_everybody_are_not_joined(place, clock):
    """A second training beside them would overwrite their checkpoints."""
    folder = add_run(place)
    beat = bytearray(wire.BEAT_BYTES)
    wire.pack_head(beat, rank=3, local_rank=3, world_size=4, pid=os.getpid(), started_at=time.time())
    wire.pack_body(beat, 1, wire.Phase.STEP, 0, 0, 1, 2, 0.0, 0.0)
    (folder.attempt(1).beats / wire.beat_name(3)).write_bytes(beat)

    with pytest.raises(LaststepError, match=rf"Rank 3 of run abcde still lives \(process {os.getpid()}\)"):
        find_broken_off(request(place), clock)


def test_the_record_of_a_run_holds_what_a_resume_needs(place):
    folder = add_run(place)

    described = json.loads(folder.run.read_text())

    assert described["start_folder"] == str(place)
    assert set(described["inputs"]) == {"rows.json"}
