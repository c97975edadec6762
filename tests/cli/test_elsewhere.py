"""What reads files alone runs on any machine: without the modules, signals and calls of a Unix."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SOUND = PROJECT / "tests" / "logs" / "failed" / "torn-optimizer.log"


def elsewhere(*words):
    script = [sys.executable, PROJECT / "tests" / "fakes" / "elsewhere.py", *words]
    return subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["diagnose", SOUND], "checkpoint.torn"),
        (["diagnose", "--json", SOUND.parent], "cause"),
        (["diagnose", "--json", "--batch", SOUND.parent], "checkpoint.torn"),
        (["explain", "disk.full"], "No space left"),
        (["explain", "--list"], "hardware.ecc-error"),
        (["--help"], "diagnose"),
        (["--version"], "laststep"),
    ],
)
def test_it_runs_where_there_is_no_unix(words, told):
    ran = elsewhere(*words)

    assert ran.returncode == 0, ran.stderr
    assert told in ran.stdout


@pytest.mark.parametrize("words", [["run", "--", "swift", "sft"], ["attach", "last"]])
def test_what_needs_linux_says_so(words):
    ran = elsewhere(*words)

    assert ran.returncode == 2
    assert "needs Linux" in ran.stderr


def test_checkpoints_are_looked_at_where_there_is_no_unix(tmp_path):
    sys.path.append(str(PROJECT / "tests" / "checkpoints" / "builders"))
    from small_checkpoints import age, write_checkpoint

    write_checkpoint(tmp_path / "checkpoint-10")
    age(tmp_path / "checkpoint-10")
    for words in (["ls", tmp_path], ["verify", tmp_path], ["verify", "--deep", tmp_path], ["seal", tmp_path]):
        ran = elsewhere("checkpoints", *words)
        assert ran.returncode == 0, ran.stderr
        assert "checkpoint-10" in ran.stdout + ran.stderr
