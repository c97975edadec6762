"""What laststep must show, with real trainings: each bench states its claims, and all of them hold.

Left to `make bench`: `overhead`, which says something only on a machine that does nothing else.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
HAS_CGROUPS = os.access("/sys/fs/cgroup/memory", os.W_OK) or os.access("/sys/fs/cgroup/cgroup.subtree_control", os.W_OK)
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not HAS_CGROUPS, reason="a memory limit needs root and writable cgroups"
)

MAXIMA = ("--only", "declared maxima")  # the other limits do not depend on the version

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.mark.usefixtures("current_env", "reported_env")
@pytest.mark.parametrize(
    ("bench", "env", "options"),
    [
        ("hang_on_two_ranks", "reported", ()),
        ("kill_workers", "current", ()),
        ("kill_workers", "reported", ()),
        ("healthy_is_identical", "current", ()),
        ("documents_once_speed", "current", ()),
        ("under_deepspeed", "reported", ()),
        pytest.param("inside_memory_limit", "current", (), marks=[needs_root, pytest.mark.root]),
        pytest.param("inside_memory_limit", "reported", MAXIMA, marks=[needs_root, pytest.mark.root]),
    ],
)
def test_every_claim_of_a_bench_holds(bench, env, options):
    command = [sys.executable, PROJECT / "bench" / f"{bench}.py", "--env", env, "--json", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    result = json.loads(ran.stdout.splitlines()[-1]) if ran.stdout else {"claims": []}
    failed = [claim for claim in result["claims"] if not claim["holds"]]
    assert ran.returncode == 0, f"{failed}\n{ran.stderr[-3000:]}"
