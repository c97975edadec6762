"""The first thing a newcomer runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LASTSTEP = Path(sys.executable).with_name("laststep")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_the_demonstration_proves_its_point(current_env, tmp_path):
    """Workers were really killed, and nothing tells the two runs apart."""
    command = [LASTSTEP, "demo", "--python", current_env, "--json"]
    # Both runs are thrown away at the end, so that nothing may be read from them later.
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    shown = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert shown["proven"]
    assert shown["kills"] >= 5
    assert not shown["missed"]
    assert shown["disturbed"]["steps"] == shown["undisturbed"]["steps"] == 14
    assert not list(tmp_path.glob("laststep*"))  # torchrun and killed workers leave folders of their own
    assert any(moment["mark"] == "cure" for moment in shown["timeline"])


def test_without_an_environment_it_says_what_to_install(tmp_path):
    ran = subprocess.run(
        [LASTSTEP, "demo"], capture_output=True, text=True, check=False, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}
    )
    assert ran.returncode == 2
    assert "pip install" in ran.stderr
    assert "Traceback" not in ran.stderr
