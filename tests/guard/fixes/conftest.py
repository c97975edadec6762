"""The training environments and the tiny model that the slow tests of the fixes need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
SOURCE = PROJECT / "src"
DRIVERS = Path(__file__).parent / "drivers"
sys.path.insert(0, str(SOURCE))  # where laststep is not installed


@pytest.fixture(scope="session", params=["current", "reported"])
def training_python(request):
    """The Python of each training environment; without one the test is skipped, or fails where it was promised."""
    folder = Path(os.environ.get("LASTSTEP_ENVS") or PROJECT / ".envs")
    python = folder / request.param / "bin" / "python"
    if python.exists():
        return python
    message = f"no training environment at {python}"
    if os.environ.get("LASTSTEP_REQUIRE_ENVS"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def reranker(training_python):
    """The folder of the tiny reranker, built once for all sessions."""
    model = Path(os.environ.get("LASTSTEP_LAB") or PROJECT / ".lab") / "model"
    builder = SOURCE / "laststep" / "demo" / "build_model.py"
    if not model.exists():
        if not builder.exists():
            pytest.skip(f"no model at {model} and nothing to build it with at {builder}")
        model.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([training_python, builder, model], check=True, capture_output=True)
    return model


@pytest.fixture
def drive(training_python, reranker, tmp_path):
    """Run a driver with the environment's Python and read the JSON object that it prints last."""

    def run(name, *arguments, timeout=240):
        command = [training_python, DRIVERS / name, reranker, tmp_path, *arguments]
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
