"""The guard enters every interpreter of the command quietly, and leaves it alone where it has no business."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from laststep_guard.settings import Settings, write_settings

INJECT = Path(__file__).resolve().parents[2] / "src" / "laststep_guard" / "inject"


def run(code, folder, *, flags=(), path=(), **environment):
    """Run code in a fresh interpreter under the guard; give it back with the events that it left."""
    settings = write_settings(Settings(run_id="test", events_dir=str(folder)))
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env={
            "PATH": os.environ["PATH"], "LASTSTEP_GUARD": settings,
            "PYTHONPATH": os.pathsep.join(map(str, [INJECT, *path])), **environment,
        },
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done, [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]


@pytest.fixture
def modules(tmp_path):
    """A folder for stand-ins of the user's own modules."""
    folder = tmp_path / "modules"
    folder.mkdir()
    return folder


@pytest.fixture
def events(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    return folder


def stand_in_for_accelerate(modules):
    """Put a module where accelerate would be, with what the guard hooks of it."""
    for package in ("accelerate", "torch"):
        (modules / package).mkdir()
        (modules / package / "__init__.py").write_text("")
    (modules / "accelerate" / "accelerator.py").write_text("class Accelerator:\n    def backward(self, loss): ...\n")


def test_a_sitecustomize_that_was_there_still_runs(modules, events):
    (modules / "sitecustomize.py").write_text("import builtins; builtins.was_there = __name__")

    done, _ = run("print(was_there); import sys; print('laststep_guard' in sys.modules)", events, path=[modules])

    assert done.stdout.split() == ["sitecustomize", "True"]


def test_our_packages_do_not_shadow_the_users(events):
    """Only the folder of the entry is on the path, and it holds nothing else."""
    done, _ = run("import sys; print([p for p in sys.path if 'laststep' in p])", events)

    assert done.stdout.count("laststep_guard") == 1
    assert [file.name for file in INJECT.iterdir() if file.name != "__pycache__"] == ["sitecustomize.py"]


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_an_isolated_interpreter_stays_isolated(events, flag):
    done, _ = run("import sys; print('laststep_guard' in sys.modules)", events, flags=[flag])

    assert done.stdout.strip() == "False"


def test_garbled_settings_are_said_and_the_program_runs(events):
    done, _ = run("print('trained')", events, LASTSTEP_GUARD="{")

    assert done.stdout.strip() == "trained"
    assert "could not attach" in done.stderr


def test_a_launcher_records_how_its_python_children_ended(events):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import os; os.kill(os.getpid(), 9)'])"

    _, seen = run(code, events)

    assert [(event["kind"], event["code"]) for event in seen] == [("child_ended", -9)]


def test_other_programs_are_nobodys_business(events):
    _, seen = run("import subprocess; subprocess.run(['true'])", events)

    assert seen == []


def test_a_rank_does_not_record_its_helpers(events):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])"

    assert run(code, events, RANK="0", LOCAL_RANK="0")[1] == []


def test_rank_alone_may_be_the_number_of_a_machine(events):
    """A launcher in a cluster of machines has RANK set, and is no rank."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])"

    assert len(run(code, events, RANK="0")[1]) == 1


def test_a_child_of_multiprocessing_hooks_no_frameworks(modules, events):
    stand_in_for_accelerate(modules)
    code = (
        "import torch; from accelerate.accelerator import Accelerator as A; print(hasattr(A.backward, '__wrapped__'))"
    )
    stand_in = f"{code}  # from multiprocessing.spawn import spawn_main(tracker_fd=5)"

    assert run(code, events, path=[modules])[0].stdout.strip() == "True"
    assert run(stand_in, events, path=[modules])[0].stdout.strip() == "False"


def test_an_error_of_ours_is_reported_and_the_import_succeeds(modules, events):
    """A framework that looks unlike anything we know is left alone."""
    (modules / "transformers").mkdir()
    (modules / "transformers" / "__init__.py").write_text("")
    (modules / "transformers" / "trainer.py").write_text("Trainer = 7\n")

    done, seen = run("import transformers.trainer; print(transformers.trainer.Trainer)", events, path=[modules])

    assert done.stdout.strip() == "7"
    assert [event["kind"] for event in seen] == ["guard_error", "guard_error", "guard_declined"]


def test_a_module_looks_as_if_nobody_had_waited_for_it(modules, events):
    """Libraries compare and pickle loaders; ours is gone once the module is there."""
    stand_in_for_accelerate(modules)
    code = "import accelerate.accelerator as a; print(*(type(x).__name__ for x in (a.__loader__, a.__spec__.loader)))"

    done, _ = run(code, events, path=[modules])

    assert done.stdout.split() == ["SourceFileLoader", "SourceFileLoader"]
