"""The guard comes in by the environment alone."""

import os

import pytest

from laststep.launch.inject import find_switch_off, inject_folder, inject_guard, take_out_guard
from laststep_guard import wire
from laststep_guard.settings import Settings, read_settings

SETTINGS = Settings(run_id="k3f9a", beats_dir="/b", events_dir="/e", guards_off=("loader",))


def test_the_users_path_is_kept_behind_ours():
    injected = inject_guard({"PYTHONPATH": "a::b", "HOME": "/h"}, SETTINGS)

    assert injected["PYTHONPATH"] == os.pathsep.join([str(inject_folder()), "a::b"])
    assert injected["HOME"] == "/h"


@pytest.mark.parametrize("environment", [{}, {"PYTHONPATH": ""}])
def test_no_path_of_the_users_adds_no_current_folder(environment):
    """An empty part of PYTHONPATH means the current folder."""
    assert inject_guard(environment, SETTINGS)["PYTHONPATH"] == str(inject_folder())


def test_the_guard_reads_what_was_written():
    assert read_settings(inject_guard({}, SETTINGS)) == SETTINGS


def test_nothing_else_changes():
    environment = {"HOME": "/h", "RANK": "0"}

    assert set(inject_guard(environment, SETTINGS)) - set(environment) == {"PYTHONPATH", wire.ENVIRONMENT}


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["python", "-I", "train.py"], "-I"),
        (["/usr/bin/python3.11", "-u", "-E", "train.py"], "-E"),
        (["env", "python", "-uS", "-m", "swift"], "-uS"),
        (["python", "train.py", "-I"], None),
        (["python", "-m", "torch.distributed.run", "-E"], None),
        (["swift", "sft", "-S"], None),
    ],
)
def test_the_option_that_keeps_the_guard_out_is_found(words, option):
    assert find_switch_off(words) == option


def test_what_was_put_in_is_taken_out_again():
    for before in ({}, {"PYTHONPATH": "/a"}, {"PYTHONPATH": "/a:/b", "X": "1"}):
        assert take_out_guard(inject_guard(before, Settings("test"))) == before
