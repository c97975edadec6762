"""A loop without any trainer is guarded as well, also where workers have interpreters of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).parent / "drivers" / "own_loop.py"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_killed_worker_changes_nothing_under_laststep(current_env, tmp_path, monkeypatch, method):
    """The guard reaches the workers through the environment alone; nothing of ours is on their path."""
    monkeypatch.setenv("LASTSTEP_HOME", str(tmp_path / "home"))
    command = [str(current_env), str(DRIVER), method]
    alone = subprocess.run([*command, "calm"], capture_output=True, text=True, check=True)

    report = tmp_path / "report.json"
    run = [sys.executable, "-m", "laststep", "run", "--report", str(report), "--"]
    guarded = subprocess.run([*run, *command, "kill"], capture_output=True, text=True, check=False)

    assert guarded.returncode == 0, guarded.stderr
    assert guarded.stdout == alone.stdout
    faults = {fault["kind"] for fault in json.loads(report.read_text())["faults"]}
    assert "worker_died" in faults
    assert "guard_error" not in faults
