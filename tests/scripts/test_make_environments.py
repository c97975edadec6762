"""Environments are built once, recognised when they are right, and taken up again when they are not."""

import importlib.util
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_environments"
HERE = Path(sys.prefix)


@pytest.fixture(scope="module")
def make_environments():
    """The script as a module; it has no suffix, since it is typed."""
    # Its compiled form would lie beside it, in the project's own folder.
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader = SourceFileLoader("make_environments", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    sys.dont_write_bytecode = writes
    return module


def test_an_environment_with_the_wanted_versions_is_kept(make_environments):
    assert make_environments.what_is_wrong(HERE, (f"pytest=={version('pytest')}", "hypothesis")) is None


def test_another_version_is_named(make_environments):
    problem = make_environments.what_is_wrong(HERE, ("pytest==0.1",))
    assert problem == f"pytest is {version('pytest')}, not 0.1"


def test_a_missing_package_is_named(make_environments):
    assert make_environments.what_is_wrong(HERE, ("no-such-package",)) == "no-such-package is missing"


def test_a_half_made_environment_counts_as_none(make_environments, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("")
    (tmp_path / "bin" / "python").chmod(0o755)
    assert make_environments.what_is_wrong(tmp_path, ()) == "not there"


def test_a_dry_run_says_what_it_would_do_and_does_nothing(tmp_path):
    told = subprocess.run(
        [sys.executable, SCRIPT, "--dry-run", "training"],
        env=os.environ | {"LASTSTEP_ENVS": str(tmp_path / "envs")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ms-swift==4.6.0" in told.stdout
    assert "ms-swift==4.0.0" in told.stdout
    assert not (tmp_path / "envs").exists()


def test_one_environment_sees_the_packages_of_another(make_environments, tmp_path):
    """As the reported versions see torch: their own packages come first."""
    for name in ("over", "ours"):
        (tmp_path / name / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    make_environments.link_packages(tmp_path / "ours", tmp_path / "over")
    link = tmp_path / "ours" / "lib" / "python3.11" / "site-packages" / "zz_current.pth"
    assert link.read_text().strip() == str(tmp_path / "over" / "lib" / "python3.11" / "site-packages")


@pytest.mark.slow
def test_laststep_is_not_installed_where_trainings_run(current_env, reported_env):
    """Nothing in the user's environment changes, so the tests' must not hold it either."""
    for python in (current_env, reported_env):
        found = subprocess.run(
            [python, "-c", "import importlib.util as u; print(u.find_spec('laststep'), u.find_spec('laststep_guard'))"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert found.stdout.split() == ["None", "None"]
