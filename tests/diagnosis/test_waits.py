"""What the ranks waited for tells a rank that skipped something from one that fell behind."""

import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.read_log import open_text
from laststep.diagnosis.waits import OTHER_NUMBERS, OTHER_SIZES, WaitFinder

WAIT = (
    "[rank{rank}]:[E ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={number}, OpType={operation}, NumelIn={size}, NumelOut={size}, Timeout(ms)=1800000) ran for "
    "1800039 milliseconds before timing out."
)


def wait(rank, number=7, operation="ALLREDUCE", size=512):
    return WAIT.format(rank=rank, number=number, operation=operation, size=size)


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        ([wait(0), wait(1)], set()),
        ([wait(0), wait(1, size=1)], {OTHER_SIZES}),
        ([wait(0), wait(1, operation="_ALLGATHER_BASE")], {OTHER_SIZES}),
        ([wait(0), wait(1, number=8)], {OTHER_NUMBERS}),
        ([wait(0), wait(0, number=8)], set()),
        ([wait(0)], set()),
        (["[E ProcessGroupNCCL.cpp:455] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL("], set()),
    ],
)
def test_the_ranks_waits_are_compared(lines, facts):
    finder = WaitFinder()
    for number, line in enumerate(lines, 1):
        finder.look([line], "a log", number)

    assert set(finder.finish()) == facts


def test_other_sizes_at_one_number_are_a_module_that_was_skipped():
    seen = diagnose(open_text(f"{wait(0)}\n{wait(1, size=1)}\n"), source="a log")

    assert seen.verdict.cause == "distributed.skipped-module"
    assert seen.verdict.evidence[0].line == 1
