"""The real environments, model and data that slow tests train with, built once into `.lab`."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every clean clone; at a desk each run looks for new ones.
settings.register_profile("clean-clone", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("clean-clone")

PROJECT = Path(__file__).resolve().parent.parent
BUILDERS = PROJECT / "src" / "laststep" / "demo"


def pytest_configure():
    # Background jobs ignore Ctrl-C and Ctrl-\\, those of nohup SIGHUP, and so would every program the tests start.
    defaults = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGQUIT: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    for number, handler in defaults.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files in tests/golden from what is there now"
    )


@pytest.fixture
def update_golden(request):
    return request.config.getoption("--update-golden")


@pytest.fixture(scope="session")
def environments():
    """Give `environments(name)`: the Python of a training environment."""
    return find_environment


def find_environment(name):
    """The Python of a training environment; without one the test is skipped, or fails where it was promised."""
    folder = Path(os.environ.get("LASTSTEP_ENVS") or PROJECT / ".envs")
    python = folder / name / "bin" / "python"
    if python.exists():
        return python
    message = f"no training environment at {python}; `make envs` builds it"
    if os.environ.get("LASTSTEP_REQUIRE_ENVS"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def current_env():
    """The Python of the environment with ms-swift 4.6.0."""
    return find_environment("current")


@pytest.fixture(scope="session")
def reported_env():
    """The Python of the environment with the versions of the report."""
    return find_environment("reported")


@pytest.fixture(scope="session")
def lab():
    """The folder of models and data that outlives a session."""
    folder = Path(os.environ.get("LASTSTEP_LAB") or PROJECT / ".lab")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def tiny_model(lab, current_env):
    """The tiny reranker, built with the current environment."""
    model = lab / "model"
    if not model.exists():
        subprocess.run([current_env, BUILDERS / "build_model.py", model], check=True, capture_output=True)
    return model


@pytest.fixture(scope="session")
def reranker_data(lab, current_env):
    """Give `data(name, *flags)`: a data set built once under that name; the flags are those of build_data.py."""

    def build(name, *flags):
        rows = lab / name / "rows.json"
        if not rows.exists():
            rows.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([current_env, BUILDERS / "build_data.py", rows, *map(str, flags)], check=True)
        return rows

    return build
