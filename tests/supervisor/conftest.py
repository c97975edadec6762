"""Small sound checkpoints, as the tests of `checkpoints` build them, and a clock that moves when told."""

import sys
from pathlib import Path

import pytest

from laststep.journal.layout import RunFolder

sys.path.append(str(Path(__file__).resolve().parents[1] / "checkpoints" / "builders"))


class FakeClock:
    """A clock that moves when told."""

    seconds = 0.0

    def now(self):
        return self.seconds

    monotonic = now

    def sleep(self, seconds):
        self.seconds += seconds


class FakeConsole:
    """Remembers what was said."""

    def __init__(self):
        self.said = []

    def say(self, text, *, within_line=False):
        del within_line
        self.said.append(text.en)

    def ask(self, question):
        raise AssertionError(question.en)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def console():
    return FakeConsole()


@pytest.fixture
def run(tmp_path):
    return RunFolder(tmp_path / "home" / "runs" / "20260101-000000_m_abcde")
