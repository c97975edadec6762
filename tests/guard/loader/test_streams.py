"""A loader whose workers die hands over what an undisturbed one would have, with real torch and real SIGKILLs."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
DRIVER = Path(__file__).parent / "drivers" / "streams.py"

pytestmark = pytest.mark.slow


@pytest.fixture
def drive(current_env, tmp_path):
    """Run one case of the driver under the environment's Python, with the guard on its path as a user's has it."""

    def run(case):

        environment = {
            **os.environ,
            "PYTHONPATH": f"{PROJECT}/src/laststep_guard/inject:{PROJECT}/src",
            "OMP_NUM_THREADS": "1",
        }

        done = subprocess.run(
            [current_env, DRIVER, case, tmp_path],
            env=environment,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )
        results = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        assert results, done.stderr[-3000:]
        return json.loads(results[-1].removeprefix("RESULT "))

    return run


def kinds(result):
    return [event["kind"] for event in result["events"]]


@pytest.mark.parametrize(
    "case",
    [
        "killed", "persistent", "persistent-stopped-early", "iterable", "iterable-persistent", "no-batching", "pinned",
        "merged-and-killed", "merged-persistent", "spawn", "forkserver",
    ],
)  # fmt: skip
def test_killed_workers_change_nothing(drive, case):
    """The batches, their random numbers and the trainer's own random state are those of an undisturbed torch."""
    result = drive(case)

    assert result["killed"] >= 3, "the fault did not fire"
    assert kinds(result).count("loader_rebuilt") >= result["killed"] // 2
    assert "guard_error" not in kinds(result)
    assert result["identical"]
    assert result["left_in_shared_memory"] == []
    assert result["identical_after_undo"]


@pytest.mark.parametrize("case", ["healthy", "merged"])
def test_a_healthy_loader_is_stock_bit_for_bit(drive, case):
    """Also when its slots are merged into fewer processes and spread out again."""
    result = drive(case)

    assert result["identical"]
    assert ("loader_shrunk" in kinds(result)) == (case == "merged")
    assert not {"guard_error", "worker_died"} & set(kinds(result))


def test_pinning_happens_in_the_receiving_thread(drive):
    result = drive("pinned")

    assert result["pinned"] >= result["batches"] // 3


def test_an_iterable_data_set_says_what_cannot_be_kept(drive):
    notes = {event["note"] for event in drive("iterable")["events"] if event["kind"] == "loader_rebuilt"}

    assert any("reads past" in note for note in notes)


def test_a_row_that_kills_its_worker_three_times_is_named_and_ends_the_run(drive):
    """The rows of the batch are in the error that the user sees, and in the events."""
    result = drive("deadly-row")

    assert "row 42" in result["error"]
    gave_up = next(event for event in result["events"] if event["kind"] == "loader_gave_up")
    assert gave_up["rows"] == ["row 40", "row 41", "row 42", "row 43"]
    assert [event["deaths_on_batch"] for event in result["events"] if event["kind"] == "worker_died"] == [1, 2, 3]


def test_an_exception_in_a_row_is_the_users_as_ever(drive):
    result = drive("broken-row")

    assert "row 42 is broken" in result["error"]
    assert "worker_died" not in kinds(result)


def test_the_loaders_own_timeout_holds(drive):
    result = drive("timeout")

    assert result["error"] == "DataLoader timed out after 2 seconds"
    assert result["seconds"] < 10


def test_workers_that_die_at_their_start_end_the_run(drive):
    result = drive("dies-at-start")

    assert "without building a single batch" in result["error"]


def test_a_death_is_noticed_at_once(drive):
    """torch polls every 5 s; the pause here is a fork and the batch built again."""
    result = drive("notice")

    assert len(result["pauses"]) >= 8
    assert max(result["pauses"]) <= 0.5


def test_torchs_own_handler_raises_in_a_save_and_is_kept_from_it(drive):
    """The reported trace: the handler raises at whatever bytecode the main thread is on."""
    assert "is killed by signal" in drive("save-alone")["raised"]

    shielded = drive("save-shielded")

    assert shielded["died"] == -9
    assert shielded["raised"] is None
