"""What `laststep diagnose` says to people, word for word: `pytest --update-golden` writes it anew."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LOGS = PROJECT / "tests" / "logs" / "failed"
GOLDEN = PROJECT / "tests" / "golden" / "diagnosis"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["swift-worker-killed", "rank-out-of-memory", "killed-without-a-word"])
def test_a_person_reads_this(name, language, update_golden):
    words = [sys.executable, "-m", "laststep", "diagnose", "--lang", language, "--command-file", f"{name}.command"]
    ran = subprocess.run([*words, f"{name}.log"], capture_output=True, cwd=LOGS, check=True)
    told, golden = ran.stdout.decode("utf-8"), GOLDEN / f"{name}.{language}.txt"
    if update_golden:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(told, encoding="utf-8")

    assert told == golden.read_text(encoding="utf-8")
