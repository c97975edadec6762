"""What is typed wrongly is said as such, with exit code 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LASTSTEP = Path(sys.executable).with_name("laststep")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bogus"], "No such command 'bogus'"),
        (["--bogus"], "No such option"),
        (["run", "--bogus", "--", "true"], "No such option"),
        (["run", "--allow", "anything", "--", "true"], "--allow"),
        (["run"], "no command"),
        (["run", "--"], "no command"),
    ],
)
def test_a_wrong_option_or_command_is_named(words, said):
    ran = subprocess.run(
        [LASTSTEP, *words], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "itself failed" not in ran.stderr
