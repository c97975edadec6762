"""torchrun's agent does not wait for ranks that cannot say no, and a scheduler's SIGUSR1 does not end a launcher."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.frameworks.launcher import record_children, shorten_farewell
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


class PContext:
    """As torch's: closes the ranks that are left."""

    def close(self, death_sig=None, timeout=30):
        return death_sig, timeout


@pytest.fixture
def guardian():
    emitter = Emitter(None, None)
    guardian = Guardian(Settings("test"), emitter, Shield(emitter.emit), None)
    before = signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    yield guardian
    guardian.patches.undo()
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(("code", "timeout"), [("sys.exit(1)", 3), ("sys.exit(0)", 30), ("sys.exit(143)", 30)])
def test_after_a_rank_has_failed_the_others_are_not_waited_for(guardian, code, timeout):
    record_children(subprocess, guardian)
    shorten_farewell(SimpleNamespace(PContext=PContext), guardian)

    subprocess.run([sys.executable, "-c", f"import sys; {code}"], check=False)

    assert PContext().close(signal.SIGTERM, 30) == (signal.SIGTERM, timeout)
    assert PContext().close() == (None, timeout)


def test_sigusr1_passes_a_launcher_and_ends_its_children_as_ever(guardian):
    """A handler is not inherited by a program that is started; to ignore a signal is."""
    record_children(subprocess, guardian)
    os.kill(os.getpid(), signal.SIGUSR1)
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGUSR1)"

    assert subprocess.run([sys.executable, "-c", kill], check=False).returncode == -signal.SIGUSR1
