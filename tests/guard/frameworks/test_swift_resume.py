"""A training that a script starts goes on from its checkpoint, and no other training of that script does."""

import sys

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.frameworks.swift_resume import add_resume_flags
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield

SCRIPT = "/env/site-packages/swift/cli/sft.py"


@pytest.fixture
def argv_after(monkeypatch, tmp_path):
    """Give the command line that ms-swift reads, without what it was before."""
    monkeypatch.chdir(tmp_path)

    def argv_after(*argv, checkpoint):
        monkeypatch.setattr(sys, "argv", list(argv))
        emitter = Emitter(None, None)
        settings = Settings("test", resume_from=str(checkpoint) if checkpoint else None)
        add_resume_flags(sys, Guardian(settings, emitter, Shield(emitter.emit), 0))
        return sys.argv[len(argv) :]

    return argv_after


def test_it_goes_on_in_the_folder_of_its_version(argv_after, tmp_path):
    folder = tmp_path / "out" / "v0-2026"
    flags = argv_after(SCRIPT, "--output_dir", "out", checkpoint=folder / "checkpoint-5")

    assert flags == [
        *("--output_dir", str(folder), "--add_version", "false"),
        *("--resume_from_checkpoint", str(folder / "checkpoint-5")),
    ]


def test_it_goes_on_in_a_folder_without_versions_and_in_the_one_nobody_named(argv_after, tmp_path):
    assert argv_after(SCRIPT, "--output_dir=out", checkpoint=tmp_path / "out" / "checkpoint-5")
    assert argv_after(SCRIPT, checkpoint=tmp_path / "output" / "model" / "v0-2026" / "checkpoint-5")


def test_another_training_of_the_script_is_left_alone(argv_after, tmp_path):
    assert argv_after(SCRIPT, "--output_dir", "second", checkpoint=tmp_path / "out" / "v0" / "checkpoint-5") == []


def test_a_flag_of_the_users_own_is_kept(argv_after, tmp_path):
    own = ("--output_dir", "out", "--resume_from_checkpoint", "x")

    assert argv_after(SCRIPT, *own, checkpoint=tmp_path / "out" / "v0" / "checkpoint-5") == []


def test_other_programs_and_runs_from_the_beginning_are_left_alone(argv_after, tmp_path):
    assert argv_after("train.py", "--output_dir", "out", checkpoint=tmp_path / "out" / "checkpoint-5") == []
    assert argv_after(SCRIPT, "--output_dir", "out", checkpoint=None) == []
