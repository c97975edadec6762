"""The logs of trainings that finished accuse nobody; `tests/logs/collect.py` made them with real ones."""

from pathlib import Path

import pytest

from laststep.diagnosis.diagnose import diagnose, diagnose_file
from laststep.diagnosis.read_log import open_text
from laststep.failures.catalog import NO_FAULT, UNKNOWN

HEALTHY = sorted((Path(__file__).parents[1] / "logs" / "healthy").glob("*.log"))
PLAIN = [log for log in HEALTHY if not log.name.startswith("harmless")]
CUTS = 12


def name(log):
    return log.stem


def test_there_are_forty():
    assert len(HEALTHY) >= 40


@pytest.mark.parametrize("log", HEALTHY, ids=name)
def test_a_run_that_finished_raises_nothing(log):
    seen = diagnose_file(log)

    assert seen.verdict.cause == NO_FAULT, seen.verdict.evidence
    assert not seen.alternatives
    assert not seen.also


@pytest.mark.parametrize("log", PLAIN, ids=name)
def test_wherever_it_is_cut_nothing_is_accused(log):
    """As it looked while it ran, or as it was left by somebody who pulled the plug."""
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    for cut in range(1, CUTS + 1):
        seen = diagnose(open_text("".join(lines[: len(lines) * cut // CUTS])), source="a log")
        assert seen.verdict.cause in (NO_FAULT, UNKNOWN), (cut, seen.verdict.evidence)
        assert not seen.also


@pytest.mark.parametrize("log", [log for log in HEALTHY if log not in PLAIN], ids=name)
def test_a_failure_behind_the_end_is_still_seen(log):
    """What a run finished does not excuse what follows."""
    text = (
        log.read_text(encoding="utf-8") + "\nRuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed.\n"
    )

    assert diagnose(open_text(text), source="a log").verdict.cause == "host-memory.worker-oom-killed"
