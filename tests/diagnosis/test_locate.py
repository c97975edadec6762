"""Where in a run a line was printed is read from the line and from what stands before it."""

import time

import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.locate import WINDOW_BYTES, find_rank, locate
from laststep.diagnosis.read_log import open_text
from laststep.records.verdict import Phase, Whereabouts

BARS = "Train:   3%|#    | 5/150 [00:01<00:30]\rTrain:   4%|#    | 6/150 [00:01<00:29]\n"
DIED = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed."
TORCHRUN = """
Root Cause (first observed failure):
[0]:
  time      : 2026-12-06_12:01:23
  host      : node-1
  rank      : {rank} (local_rank: {rank})
  exitcode  : 1 (pid: 3508)
"""


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[rank3]: ValueError: x", 3),
        ("node-1: [rank11]: ValueError: x", 11),
        ("[default2]:Traceback (most recent call last):", 2),
        ("[rank1]:[E ProcessGroupNCCL.cpp:563] [Rank 1] Watchdog caught", 1),
        ("[E ProcessGroupNCCL.cpp:828] [Rank 6] Watchdog caught", 6),
        ("  rank      : 5 (local_rank: 1)", 5),
        ("E1206 torch/distributed/elastic: failed (exitcode: 1) local_rank: 1 (pid: 3) of binary: python", 1),
        ("ValueError: lora rank must be positive", None),
        ("RuntimeError: no rank here", None),
    ],
)
def test_a_rank_is_read_as_each_library_writes_it(line, rank):
    assert find_rank(line) == rank


@pytest.mark.parametrize(
    ("before", "phase", "step"),
    [
        (BARS, Phase.TRAINING, 6),
        (BARS + "Val:  50%|#   | 2/4 [00:01<00:01]\n", Phase.EVALUATING, 6),
        (BARS + '  File "trainer.py", line 3, in _save_checkpoint\n', Phase.SAVING, 6),
        ("Loading checkpoint shards:  50%|# | 2/4 [00:10<00:10]\n", Phase.LOADING, None),
        ("Map (num_proc=4):  50%|# | 20/40 [00:10<00:10]\n", Phase.PREPARING, None),
        ("{'loss': '2.3', 'global_step/max_steps': '9/12'}\n", Phase.TRAINING, 9),
        ("nothing\n", None, None),
    ],
)
def test_step_and_phase_are_those_before_it(before, phase, step):
    data = (before + DIED).encode()
    where = locate(data, len(before.encode()), DIED)

    assert (where.phase, where.step) == (phase, step)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-12-06 12:01:23,456 - INFO - x", "2026-12-06 12:01:23"),
        ("E1206 12:01:23.000000 7 torch/x.py:1] x", "1206 12:01:23"),
        ("[Sun Dec  6 12:01:23 2026] Out of memory: Killed process 7", "Sun Dec  6 12:01:23 2026"),
        ("Dec  6 12:01:23 node kernel: Out of memory", "Dec  6 12:01:23"),
        ("took 12:01:23", None),
    ],
)
def test_a_time_is_quoted_as_it_is_written(text, time):
    assert locate(text.encode(), 0, text).time == time


def test_a_diagnosis_says_where_the_run_was():
    seen = diagnose(open_text(f"{BARS}[rank1]: {DIED}\n"), source="a log")

    assert seen.where == Whereabouts(rank=1, phase=Phase.TRAINING, step=6, target_step=150)


def test_the_rank_that_a_launcher_blames_is_named_where_lines_name_none():
    assert diagnose(open_text(BARS + DIED + TORCHRUN.format(rank=3)), source="a log").where.rank == 3


LOUD = "[rank0]: OSError: [Errno 28] No space left on device\n[rank1]: OSError: [Errno 122] Disk quota exceeded\n"


@pytest.mark.parametrize(("rank", "cause"), [(0, "disk.full"), (1, "disk.quota")])
def test_what_the_rank_says_that_failed_first_comes_first(rank, cause):
    text = LOUD.replace("[Errno 122] Disk quota", "CUDA error: uncorrectable ECC error encountered; x")
    cause = {"disk.full": "disk.full", "disk.quota": "hardware.ecc-error"}[cause]

    assert diagnose(open_text(text + TORCHRUN.format(rank=rank)), source="a log").verdict.cause == cause


@pytest.mark.parametrize(
    "hostile", ["0", " ", "|", "1% ", "[rank", "rank : ", "Train: ", ", in _", "Map (num_proc=", "\r 1%|"]
)
def test_no_expression_runs_away(hostile):
    """As much as is looked at, full of what an expression may stumble over."""
    text = hostile * (WINDOW_BYTES // len(hostile))
    began = time.perf_counter()
    locate(text.encode(), len(text), text)

    assert time.perf_counter() - began < 0.5
