"""The demonstration finds a Python that can train, or says what to install."""

import sys
from pathlib import Path

import pytest

from laststep.demo.find_training import find_training_python
from laststep.records.errors import CommandError


def test_without_any_environment_it_says_how_to_make_one(tmp_path):
    with pytest.raises(CommandError, match="no `swift` on PATH") as caught:
        find_training_python(None, search_path=str(tmp_path), cwd=tmp_path)
    assert "pip install torch" in str(caught.value)


def test_a_python_without_the_packages_is_told_what_it_lacks(tmp_path):
    with pytest.raises(CommandError, match="without torch"):
        find_training_python(Path(sys.executable), search_path="", cwd=tmp_path)


def test_a_python_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match="does not exist"):
        find_training_python(tmp_path / "python", search_path="", cwd=tmp_path)


@pytest.mark.slow
def test_the_one_beside_swift_on_the_path_is_taken(current_env, tmp_path):
    assert find_training_python(None, search_path=str(current_env.parent), cwd=tmp_path) == current_env
