"""What did the ranks wait for when NCCL's watchdog gave up: the same collective, another, or another size of it?

torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp writes for each rank
`[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=131, OpType=ALLREDUCE, NumelIn=8, …)`;
the sizes are there from torch 2.1 on.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from laststep.records.verdict import Evidence

TEXT = "Watchdog caught collective operation timeout"
OTHER_SIZES, OTHER_NUMBERS = "ranks wait with other sizes", "ranks wait at other numbers"
NAMES = frozenset({OTHER_SIZES, OTHER_NUMBERS})
_MOST = 256  # of a job with so many ranks the first will do
_WAIT = re.compile(r"\[Rank (\d+)\] Watchdog caught.{0,80}SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+))?")


@dataclass(frozen=True, slots=True)
class _Wait:
    """What a rank waited for."""

    rank: int
    number: int
    operation: str
    size: str


@dataclass(slots=True)
class WaitFinder:
    """Looks at the lines of the watchdog."""

    _waits: dict[int, _Wait] = field(default_factory=dict)  # by rank: the first
    _evidence: Evidence | None = None

    def look(self, parts: list[str], source: str, number: int) -> None:
        """Look at a line."""
        for part in parts:
            match = _WAIT.search(part)
            if match is not None and len(self._waits) < _MOST:
                rank = int(match.group(1))
                self._waits.setdefault(rank, _Wait(rank, int(match.group(2)), match.group(3), match.group(4) or ""))
                self._evidence = self._evidence or Evidence(source, number, part)

    def finish(self) -> dict[str, Evidence | None]:
        """Give the facts that hold."""
        return dict.fromkeys(self._tell(), self._evidence)

    def _tell(self) -> Iterator[str]:
        waits = list(self._waits.values())
        if len({wait.number for wait in waits}) > 1:
            yield OTHER_NUMBERS
        elif len({(wait.operation, wait.size) for wait in waits}) > 1:
            yield OTHER_SIZES
