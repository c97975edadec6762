"""Small checkpoints for every test of this folder; their builders lie beside, and are found by name."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "builders"))

from small_checkpoints import STEP, write_checkpoint  # found by the line above


@pytest.fixture
def checkpoint(tmp_path):
    """A sound checkpoint."""
    return write_checkpoint(tmp_path / f"checkpoint-{STEP}")
