"""A laststep of the user's, in a home of its own, whose processes can be told from all others."""

import json
import os
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
FAKES = PROJECT / "tests" / "fakes"
TAG = "LASTSTEP_TEST_TAG"


@dataclass
class Laststep:
    """Starts laststep and looks at what it left."""

    home: Path
    tag: str

    @property
    def environment(self):
        inherited = {name: value for name, value in os.environ.items() if name not in ("LC_ALL", "LC_MESSAGES")}
        ours = {"PYTHONPATH": str(PROJECT / "src"), "LASTSTEP_HOME": str(self.home), TAG: self.tag, "LANG": "C.UTF-8"}
        return inherited | ours

    def words(self, *words):
        return [sys.executable, "-m", "laststep", *map(str, words)]

    def __call__(self, *words, **options):
        options = {"env": self.environment, "capture_output": True, "timeout": 60, "check": False} | options
        return subprocess.run(self.words(*words), **options)  # noqa: PLW1510  # among the options

    def start(self, *words, **options):
        options = {"env": self.environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(self.words(*words), **options)

    def report(self, *words, **options):
        """Run, and read the JSON on the last line of stderr."""
        ended = self("run", "--json", *words, **options)
        report = json.loads(ended.stderr.decode().splitlines()[-1])
        assert report["exit_code"] == ended.returncode
        return report

    @staticmethod
    def wait_until(claim, seconds=20):
        """Wait until a claim holds; the bound is generous, since the machine may be busy."""
        deadline = time.monotonic() + seconds
        while True:
            value = claim()
            if value:
                return value
            assert time.monotonic() < deadline, f"{claim} did not come true within {seconds} s"
            time.sleep(0.02)

    def living(self):
        """Processes of this test that live, the holder included."""
        marked = f"{TAG}={self.tag}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if marked in (entry / "environ").read_bytes() and b") Z" not in (entry / "stat").read_bytes():
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
            except OSError:
                continue
        return found

    def pid_of(self, beginning):
        """The one process whose command line begins so."""
        pids = [pid for pid, words in self.living() if words.startswith(beginning)]
        return pids[0] if len(pids) == 1 else None

    def folder(self):
        """The one run folder, once it is there."""
        (folder,) = self.wait_until(lambda: list((self.home / "runs").glob("*/run.json")))
        return folder.parent


@pytest.fixture
def laststep(tmp_path):
    """laststep, and the promise that nothing of it is left alive after the test."""
    ours = Laststep(tmp_path / "home", uuid.uuid4().hex)
    yield ours
    try:
        ours.wait_until(lambda: not ours.living(), 10)
    finally:
        for pid, _ in ours.living():
            os.kill(pid, 9)


@pytest.fixture
def trainer():
    """The words that start a fake trainer."""
    return [sys.executable, str(FAKES / "trainer.py")]


@pytest.fixture
def swift(trainer):
    """The words that start a fake trainer under a fake torchrun under a fake swift: `swift(2, "--end", "kill")`."""

    def write(ranks, *options):
        agent = [sys.executable, str(FAKES / "agent.py"), str(ranks)]
        return [sys.executable, str(FAKES / "front.py"), *agent, *trainer, *map(str, options)]

    return write
