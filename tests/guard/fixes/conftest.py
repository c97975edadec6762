"""The training environments and the tiny model that the slow tests of the fixes need."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
SOURCE = PROJECT / "src"
DRIVERS = Path(__file__).parent / "drivers"


@pytest.fixture(scope="session", params=["current", "reported"])
def training_python(request, environments):
    """The Python of each training environment."""
    return environments(request.param)


@pytest.fixture
def drive(training_python, tiny_model, tmp_path):
    """Run a driver with the environment's Python and read the JSON object that it prints last."""

    def run(name, *arguments, timeout=240):
        command = [training_python, DRIVERS / name, tiny_model, tmp_path, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [str(word) for word in command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        results = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        assert results, f"exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return json.loads(results[-1].removeprefix("RESULT "))

    return run
