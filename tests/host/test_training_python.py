import sys
from pathlib import Path

import pytest

from laststep.host.training_python import NoAnswerError, TrainingPython, find_python


def program(folder, head):
    path = folder / "swift"
    path.write_text(head + "\nimport sys\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "head",
    [
        "#!/env/bin/python3.11",
        "#! /env/bin/python3.11 -s",
        "#!/bin/sh\n'''exec' /env/bin/python3.11 \"$0\" \"$@\"\n' '''",
        "#!/bin/sh\n'''exec' \"/env/bin/python3.11\" \"$0\" \"$@\"\n' '''",
    ],
)
def test_the_interpreter_of_a_program_is_read_from_its_first_lines(tmp_path, head):
    """The third is what pip writes where the path is too long for the kernel."""
    assert find_python(program(tmp_path, head), {}, tmp_path) == "/env/bin/python3.11"


def test_env_looks_for_the_interpreter_on_the_path(tmp_path):
    python = tmp_path / "python3"
    python.symlink_to(sys.executable)
    head = program(tmp_path, "#!/usr/bin/env python3")
    assert find_python(head, {"PATH": str(tmp_path)}, tmp_path) == str(python)


@pytest.mark.parametrize("head", ["#!/bin/bash", "\x7fELF", ""])
def test_what_is_no_python_program_has_no_interpreter(tmp_path, head):
    assert find_python(program(tmp_path, head), {}, tmp_path) is None


def test_a_python_is_its_own_interpreter(tmp_path):
    assert find_python(sys.executable, {}, tmp_path) == sys.executable


def test_a_question_that_fails_says_what_the_interpreter_said(tmp_path):
    """There is no ms-swift beside this Python."""
    asked = TrainingPython(python=sys.executable, environment={}, cwd=tmp_path)
    with pytest.raises(NoAnswerError, match="ModuleNotFoundError"):
        asked.ask("accepted_arguments", "swift:sft")


def test_an_interpreter_that_is_gone_is_told(tmp_path):
    asked = TrainingPython(python=str(tmp_path / "python3"), environment={}, cwd=tmp_path)
    with pytest.raises(NoAnswerError, match="No such file"):
        asked.ask("accepted_arguments", "torchrun")


def test_an_environment_is_another_one_after_an_installation(tmp_path):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    asked = TrainingPython(python=str(tmp_path / "bin" / "python3"), environment={}, cwd=Path.cwd())
    before = asked.identify()
    (packages / "torch-3.dist-info").mkdir()
    assert asked.identify() != before
