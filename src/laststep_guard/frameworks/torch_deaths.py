"""When a worker dies, what is said, and when is it hopeless?"""

from typing import List, Optional

from laststep_guard.frameworks.torch_appetite import Appetite
from laststep_guard.guardian import Guardian
from laststep_guard.guards.slots import Task
from laststep_guard.wire import EventKind

_MOST_ON_BATCH = 3
_MOST_IN_A_ROW = 10  # without a single batch in between: the workers die at their start


class Deaths:
    """Counts the deaths of one loader's workers."""

    def __init__(self, guardian: Guardian, label: str, appetite: Appetite) -> None:
        self._guardian = guardian
        self._label = label
        self._appetite = appetite
        self._in_a_row = 0

    def note_batch(self) -> None:
        """A batch came back, so workers do live."""
        self._in_a_row = 0

    def judge(self, pid: int, code: Optional[int], blamed: Optional[Task], rows: List[str]) -> None:
        """Report a death. Raises RuntimeError when another process would only die as well."""
        self._in_a_row += 1
        deaths = blamed.deaths if blamed is not None else 0
        batch = blamed.number if blamed is not None else None
        self._guardian.emit(
            EventKind.WORKER_DIED, loader=self._label, worker=pid, code=code, batch=batch, deaths_on_batch=deaths,
            rows=rows,
        )  # fmt: skip
        if deaths >= _MOST_ON_BATCH:
            self._guardian.emit(
                EventKind.LOADER_GAVE_UP, loader=self._label, batch=batch, rows=rows, deaths_on_batch=deaths
            )
            raise RuntimeError(
                f"Batch {batch} of the {self._label} loader ended {deaths} worker processes in a row. "
                f"It is made of: {'; '.join(rows) or 'rows that can not be named'}. {self._appetite.explain()}"
            )
        if self._in_a_row >= _MOST_IN_A_ROW:
            raise RuntimeError(
                f"{self._in_a_row} worker processes of the {self._label} loader ended without building a single batch. "
                f"{self._appetite.explain()}"
            )


def tell_what_is_lost(read_past: int) -> str:
    """Say what cannot be kept when the worker of an iterable data set is replaced."""
    return (
        f"an iterable data set has no index: the new worker reads past the {read_past} batches that were built before, "
        "which gives the same batches only if the data set yields the same rows from the same seed"
    )
