"""A loss that reaches no parameter is tied on several ranks, and every other loss is left alone, in real torch."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
DRIVER = Path(__file__).parent / "drivers" / "losses.py"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def looks(current_env):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
    done = subprocess.run(
        [current_env, "-W", "ignore", DRIVER], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1].removeprefix("RESULT "))


@pytest.mark.parametrize("name", ["healthy", "healthy-reentrant"])
def test_a_healthy_loss_is_not_touched(looks, name):
    """The very same tensor goes backward, also through reentrant checkpointing, which hides its part of the graph."""
    assert looks[name]["same"]
    assert looks[name]["gradient"] > 0
    assert looks[name]["events"] == []


@pytest.mark.parametrize(
    ("name", "reason"), [("fresh", "its graph holds no trainable parameter"), ("leaf", "the loss is a leaf")]
)
def test_on_several_ranks_it_is_tied_and_adds_nothing(looks, name, reason):
    """Every parameter gets a gradient, so the rank takes part in the exchange; and the gradient is zero."""
    assert looks[name]["value"] == 0
    assert looks[name]["gradient"] == 0
    assert [(event["tied"], event["reason"]) for event in looks[name]["events"]] == [(True, reason)]


def test_on_one_rank_nothing_is_changed(looks):
    assert looks["fresh-alone"]["same"]
    assert looks["fresh-alone"]["gradient"] is None
    assert [event["tied"] for event in looks["fresh-alone"]["events"]] == [False]
