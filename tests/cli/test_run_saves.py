"""`laststep save`, SIGUSR1 and a stop let all ranks save at one step; where they cannot, it is said."""

import json
import os
import re
import signal
from pathlib import Path

import pytest


@pytest.fixture
def start(laststep, swift, tmp_path):
    """Start a training of two ranks that goes on, and wait for its first steps."""

    def start(*options, words=()):
        ready = tmp_path / "ready"
        training = swift(2, "--target", 2000, "--step-seconds", 0.05, "--end", "wait", "--ready", ready, *options)
        process = laststep.start("run", "--json", *words, "--", *training)
        laststep.wait_until(lambda: all(Path(f"{ready}{rank}").exists() for rank in range(2)))
        return process

    return start


def end(process):
    process.terminate()
    _, errors = process.communicate(timeout=60)
    return errors.decode()


def test_a_run_saves_when_it_is_asked_and_goes_on(laststep, start):
    process = start("--takes-requests")

    saved = laststep("save", "last")

    assert saved.returncode == 0
    step = int(re.search(r"all ranks save at the end of step (\d+)", saved.stderr.decode()).group(1))
    assert f"saved at step {step}" in saved.stderr.decode()
    assert process.poll() is None
    assert f"saved at step {step}" in end(process)  # who watches the run is told as well


@pytest.mark.parametrize("whom", ["laststep", "holder"])
def test_sigusr1_saves(laststep, start, whom):
    """A scheduler sends it before it takes the machine away."""
    process = start("--takes-requests")
    (holder,) = laststep.home.glob("runs/*/attempts/1/holder.json")
    if whom == "laststep":
        process.send_signal(signal.SIGUSR1)
    else:
        os.kill(json.loads(holder.read_text())["pid"], signal.SIGUSR1)
    lines = iter(process.stderr.readline, b"")
    assert any(b"saved at step" in line for line in lines)
    end(process)


def test_a_stop_saves_first(laststep, start):
    process = start("--takes-requests")
    errors = end(process)

    assert process.returncode == 143
    assert re.search(r"all ranks save at the end of step \d+", errors)
    assert re.search(r"saved at step \d+", errors)
    assert json.loads(errors.splitlines()[-1])["outcome"] == "stopped"
    assert not laststep.living()


def test_ranks_that_do_not_listen_are_stopped_as_ever(laststep, start):
    process = start()
    refused = laststep("save", "last")
    assert refused.returncode == 1
    assert b"no save can be asked for now" in refused.stderr

    assert "no save can be asked for now" in end(process)
    assert process.returncode == 143


def test_a_step_that_does_not_end_in_time_is_said(laststep, swift, tmp_path):
    ready = tmp_path / "ready"
    training = swift(1, "--target", 4, "--end", "wait", "--ready", ready, "--takes-requests")
    process = laststep.start("run", "--json", "--grace", "0.5", "--", *training)
    laststep.wait_until(lambda: Path(f"{ready}0").exists())
    errors = end(process)

    assert "no step ended within 0.5 s, so nothing was saved" in errors
    assert process.returncode == 143
    assert not laststep.living()


def test_a_save_that_is_cut_off_is_said(laststep, start):
    process = start("--takes-requests", "--save-seconds", 30, words=("--grace", "2"))
    errors = end(process)

    assert "the save was not over within 2 s and is cut off" in errors
    assert process.returncode == 143
    assert not laststep.living()


def test_waiting_has_its_end(laststep, swift, tmp_path):
    ready = tmp_path / "ready"
    training = swift(1, "--target", 4, "--end", "wait", "--ready", ready, "--takes-requests")
    process = laststep.start("run", "--grace", "0.5", "--", *training)
    laststep.wait_until(lambda: Path(f"{ready}0").exists())

    late = laststep("save", "last", "--within", "1")

    assert late.returncode == 1
    assert b"no step has ended within 1 s" in late.stderr
    process.terminate()
    process.communicate(timeout=60)


def test_a_run_that_is_over_cannot_save(laststep, swift):
    laststep("run", "--", *swift(1, "--target", 2))
    refused = laststep("save", "last")

    assert refused.returncode == 1
    assert b"is not running" in refused.stderr
