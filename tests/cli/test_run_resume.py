"""A run that was broken off goes on from its newest sound checkpoint, whoever takes it up."""

import contextlib
import json
import os
import pickle
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from laststep_guard import wire


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def command(trainer, output):
    """A training of eight steps that saves every second one."""
    return [*trainer, "--target", "8", "--output_dir", output]


def attempts_of(report):
    return [(resume["attempt"], resume["step"]) for resume in report["resumes"]]


def test_what_dies_behind_a_checkpoint_goes_on_by_itself(laststep, command, tmp_path):
    report = laststep.report("--", *command, "--dies-at", "5", "--dies-once", tmp_path / "died")

    assert (report["exit_code"], report["outcome"], report["steps"], report["attempts"]) == (0, "finished", 8, 2)
    assert attempts_of(report) == [(2, 4)]
    assert [checkpoint["soundness"] for checkpoint in report["checkpoints"]] == ["sound"] * 4


def test_what_gains_no_step_is_given_up(laststep, command):
    ended = laststep("run", "--json", "--", *command, "--dies-at", "5")

    report = json.loads(ended.stderr.splitlines()[-1])
    assert (ended.returncode, report["outcome"], report["attempts"]) == (93, "without_progress", 4)
    assert b"3 attempts in a row made no new step" in ended.stderr


def test_what_dies_before_a_save_keeps_its_code(laststep, command):
    report = laststep.report("--", *command, "--dies-at", "1")

    assert (report["exit_code"], report["attempts"]) == (137, 1)


def break_off(laststep, command, output, ready):
    """Kill laststep and everything with it, once two checkpoints are there."""
    process = laststep.start("run", "--", *command, "--step-seconds", "0.1", "--ready", ready)
    laststep.wait_until((output / "checkpoint-4" / "scheduler.pt").exists)
    laststep.wait_until(lambda: len(laststep.living()) > 2)
    for pid, _ in laststep.living():
        with contextlib.suppress(ProcessLookupError):  # it ended with the one before
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    laststep.wait_until(lambda: not laststep.living())


def test_the_same_command_goes_on_when_everything_was_killed(laststep, command, output, tmp_path):
    words = [*command, "--step-seconds", "0.1", "--ready", tmp_path / "ready"]
    break_off(laststep, command, output, tmp_path / "ready")

    ended = laststep("run", "--json", "--", *words)

    first, report = ended.stderr.splitlines()[0].decode(), json.loads(ended.stderr.splitlines()[-1])
    assert "was broken off: it goes on from step" in first
    assert (report["exit_code"], report["steps"], report["attempts"]) == (0, 8, 2)
    # What has finished is not gone on with.
    assert laststep.report("--", *words)["attempts"] == 1


def test_it_goes_on_by_its_name_and_by_its_folder(laststep, command, output, tmp_path):
    break_off(laststep, command, output, tmp_path / "ready")
    refused = laststep("resume", tmp_path / "none")

    resumed = laststep("resume", output, "--json")
    again = laststep("resume", "last")

    assert refused.returncode == 2
    assert json.loads(resumed.stderr.splitlines()[-1])["steps"] == 8
    assert again.returncode == 2
    assert b"is finished: there is nothing to resume" in again.stderr


def test_fresh_starts_over(laststep, command, output, tmp_path):
    break_off(laststep, command, output, tmp_path / "ready")

    report = laststep.report("--fresh", "--", *command)

    assert (report["attempts"], report["resumes"]) == (1, [])


def test_another_training_is_not_taken_up_by_itself(laststep, command, output, tmp_path):
    break_off(laststep, command, output, tmp_path / "ready")

    ended = laststep("run", "--json", "--", *command, "--workers", "1")

    assert b"this is another training" in ended.stderr
    assert "→ --workers 1".encode() in ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["attempts"] == 1


def test_without_a_sound_checkpoint_nobody_decides_for_the_user(laststep, command, output, tmp_path):
    words = [*command, "--step-seconds", "0.1", "--ready", tmp_path / "ready"]
    break_off(laststep, command, output, tmp_path / "ready")
    for checkpoint in output.iterdir():
        (checkpoint / "optimizer.pt").unlink()
    before = sorted(output.rglob("*"))

    ended = laststep("run", "--", *words, stdin=-3)

    assert ended.returncode == 2
    assert b"is sound, so there is nothing to go on from" in ended.stderr
    assert sorted(output.rglob("*")) == before


class Trap:
    """Makes a file when it is loaded."""

    def __init__(self, sprung):
        self.sprung = sprung

    def __reduce__(self):
        return Path.touch, (self.sprung,)


@pytest.fixture
def set_trap(tmp_path):
    """Put a pickle that runs something into a checkpoint, and take its manifest away."""
    sprung = tmp_path / "sprung"

    def set_trap(checkpoint, name):
        (checkpoint / name).write_bytes(pickle.dumps(Trap(sprung)))
        (checkpoint / "laststep-manifest.json").unlink(missing_ok=True)

    set_trap.sprung = sprung
    return set_trap


NAMES = ["optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin", "extra/anything.pt"]


@pytest.mark.parametrize("name", NAMES)
def test_a_resume_passes_over_a_pickle_that_would_run_something(laststep, command, output, tmp_path, set_trap, name):
    break_off(laststep, command, output, tmp_path / "ready")
    shutil.rmtree(output / "checkpoint-6", ignore_errors=True)
    (output / "checkpoint-4" / "extra").mkdir()
    set_trap(output / "checkpoint-4", name)

    resumed = laststep("resume", output, "--json")

    report = json.loads(resumed.stderr.splitlines()[-1])
    assert (report["exit_code"], attempts_of(report)) == (0, [(2, 2)])
    assert name.encode() in resumed.stderr
    assert not set_trap.sprung.exists()


def test_the_trap_does_spring_where_it_is_loaded(laststep, command, output, set_trap):
    """Otherwise the test above would prove nothing."""
    report = laststep.report("--", *command, "--dies-at", "5", "--end", "ok")
    assert report["attempts"] > 1
    set_trap(output / "checkpoint-4", "optimizer.pt")
    settings = {"events_dir": str(output), "beats_dir": None, "resume_from": str(output / "checkpoint-4")}
    subprocess.run(list(map(str, command)), env={**os.environ, wire.ENVIRONMENT: json.dumps(settings)}, check=True)

    assert set_trap.sprung.exists()


def test_where_all_would_run_something_nothing_is_started(laststep, command, output, tmp_path, set_trap):
    break_off(laststep, command, output, tmp_path / "ready")
    for checkpoint in output.glob("checkpoint-*"):
        set_trap(checkpoint, "optimizer.pt")

    ended = laststep("resume", output, stdin=-3)

    assert ended.returncode == 2
    assert not set_trap.sprung.exists()


def test_before_the_first_save_it_begins_at_step_0_and_says_so(laststep, command, output, tmp_path):
    words = [*command, "--step-seconds", "0.1", "--ready", tmp_path / "ready"]
    break_off(laststep, command, output, tmp_path / "ready")
    shutil.rmtree(output)

    ended = laststep("run", "--json", "--", *words)

    assert b"was broken off before a save was complete: it begins at step 0" in ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["steps"] == 8


def test_who_attaches_sees_the_run_through_its_resumes(laststep, command, output, tmp_path):
    """The supervisor is gone; whoever attaches is the supervisor."""
    words = [*command, "--step-seconds", "0.4", "--dies-at", "5", "--dies-once", tmp_path / "died"]
    front = laststep.start("run", "--", *words)
    laststep.wait_until((output / "checkpoint-2" / "scheduler.pt").exists)
    front.kill()
    front.communicate()

    ended = laststep("attach", "last", "--json")

    report = json.loads(ended.stderr.splitlines()[-1])
    assert (report["exit_code"], report["steps"], report["attempts"]) == (0, 8, 2)
    assert attempts_of(report) == [(2, 4)]


def test_what_was_stopped_says_how_to_go_on(laststep, command, output):
    process = laststep.start("run", "--json", "--", *command, "--step-seconds", "0.3")
    laststep.wait_until((output / "checkpoint-2" / "scheduler.pt").exists)
    laststep.wait_until(lambda: b"checkpoint_sealed" in (laststep.folder() / "events.jsonl").read_bytes())
    process.terminate()

    report = json.loads(process.communicate()[1].splitlines()[-1])

    assert report["exit_code"] == 143
    assert f"laststep resume {report['run_id']}" in report["notes"][-1]


def test_two_who_watch_do_not_both_start_the_next_attempt(laststep, command, output, tmp_path):
    words = [*command, "--step-seconds", "0.4", "--dies-at", "5", "--dies-once", tmp_path / "died"]
    front = laststep.start("run", "--json", "--", *words)
    laststep.wait_until((output / "checkpoint-2" / "scheduler.pt").exists)

    watched = laststep("attach", "last", "--json")

    for shown in (watched.stderr, front.communicate()[1]):
        report = json.loads(shown.splitlines()[-1])
        assert (report["exit_code"], report["steps"], report["attempts"]) == (0, 8, 2)
