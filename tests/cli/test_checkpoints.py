"""`laststep checkpoints` answers clearly, whatever it is pointed at."""

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from laststep.cli import main

sys.path.append(str(Path(__file__).resolve().parents[1] / "checkpoints" / "builders"))

from small_checkpoints import age, write_checkpoint  # found by the line above


@pytest.fixture
def output(tmp_path):
    """An output folder whose newest checkpoint is torn."""
    for step in (5, 10, 15):
        write_checkpoint(tmp_path / f"checkpoint-{step}", step=step)
    (tmp_path / "checkpoint-15" / "optimizer.pt").write_bytes(b"\x80")
    age(tmp_path)
    return tmp_path


@pytest.fixture
def typed(capfd, monkeypatch):
    """Type a command; give its exit code, what it wrote and what it said."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["laststep", *map(str, words)])
        monkeypatch.setenv("LC_ALL", "C")
        with pytest.raises(SystemExit) as ended:
            main.main()
        return ended.value.code, *capfd.readouterr()

    return run


def test_ls_lists_the_newest_first(output, typed):
    code, shown, _ = typed("checkpoints", "ls", output)
    lines = [line for line in shown.splitlines() if not line.startswith("    ")]
    assert code == 0
    assert [line.rpartition("-")[2] for line in lines] == ["15", "10", "5"]
    assert "NOT SOUND" in lines[0]


def test_json_is_what_was_promised(output, typed):
    code, shown, _ = typed("checkpoints", "verify", output, "--json")
    values = json.loads(shown)["checkpoints"]
    assert code == 1
    assert [(one["step"], one["sound"], one["sealed"]) for one in values] == [
        (15, False, False), (10, True, False), (5, True, False),
    ]  # fmt: skip
    assert values[0]["path"] == str(output / "checkpoint-15")
    assert "optimizer.pt" in values[0]["problems"][0]


def test_a_sound_one_ends_with_zero(output, typed):
    assert typed("checkpoints", "verify", output / "checkpoint-10", "--deep")[0] == 0


def test_problems_are_said_in_chinese(output, typed):
    assert "文件残缺" in typed("checkpoints", "verify", output, "--lang", "zh")[1]


def test_sealed_ones_are_shown_as_such(output, typed):
    typed("checkpoints", "seal", output / "checkpoint-10")
    assert "sound, sealed" in typed("checkpoints", "ls", output)[1]


def test_prune_only_shows(output, typed):
    code, shown, _ = typed("checkpoints", "prune", output, "--keep", "1")
    assert code == 0
    assert "would be removed" in shown
    assert len(os.listdir(output)) == 3


def test_prune_removes_when_told_to(output, typed):
    typed("checkpoints", "prune", output, "--keep", "1", "--yes")
    assert os.listdir(output) == ["checkpoint-10"]


@pytest.mark.parametrize("command", ["ls", "verify", "seal", "prune"])
@pytest.mark.parametrize("name", ["absent", "file", "loop", "checkpoint-abc"])
def test_what_is_no_checkpoint_is_said_without_a_traceback(tmp_path, typed, command, name):
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "checkpoint-abc").mkdir()

    code, shown, said = typed("checkpoints", command, tmp_path / name, *(["--keep", "1"] if command == "prune" else []))

    assert code == (0 if (command, name) == ("ls", "checkpoint-abc") else 2)
    assert said.startswith("laststep:")
    assert "Traceback" not in shown + said
    assert "itself failed" not in said


def test_of_ten_thousand_the_newest_are_looked_at(tmp_path, typed):
    for step in range(10_000):
        (tmp_path / f"checkpoint-{step}").mkdir()
    code, shown, said = typed("checkpoints", "ls", tmp_path, "--json", "--limit", "3")
    assert code == 0
    assert [one["step"] for one in json.loads(shown)["checkpoints"]] == [9999, 9998, 9997]
    assert "9997 older" in said


def test_help_has_examples():
    for command in ("ls", "verify", "seal", "prune"):
        assert "laststep checkpoints" in CliRunner().invoke(main.make_app(), ["checkpoints", command, "--help"]).output
