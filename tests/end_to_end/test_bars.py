"""What laststep must show, with real trainings: each bench states its claims, and all of them hold.

Left to `make bench`: `overhead`, which says something only on a machine that does nothing else, and what takes longest:
the other version's killed workers and the other memory limits.
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
    ("bench", "env", "case"),
    [
        ("hang_on_two_ranks", "reported", None),
        ("kill_workers", "current", None),
        ("healthy_is_identical", "current", None),
        ("documents_once_speed", "current", None),
        ("under_deepspeed", "reported", None),
        pytest.param("inside_memory_limit", "reported", "declared maxima", marks=[needs_root, pytest.mark.root]),
    ],
)
def test_every_claim_of_a_bench_holds(bench, env, case):
    command = [sys.executable, PROJECT / "bench" / f"{bench}.py", "--env", env, "--json"]
    ran = subprocess.run([*command, *(["--only", case] if case else [])], capture_output=True, text=True, check=False)
    result = json.loads(ran.stdout.splitlines()[-1]) if ran.stdout else {"claims": []}
    failed = [claim for claim in result["claims"] if not claim["holds"]]
    assert ran.returncode == 0, f"{failed}\n{ran.stderr[-3000:]}"
