"""How does a fact leave the training process?

One JSON line in this process's own event file. A lost event is better than a disturbed training: nothing here raises.
"""

import json
import os
import time
from typing import Any, Optional

from laststep_guard import wire

_LONGEST_TEXT = 2000  # characters of one field; a row of a data set can be a book


class Emitter:
    """Appends events to `<folder>/guard-<pid>.jsonl`, opened by the first event: silent processes leave none."""

    def __init__(self, folder: Optional[str], rank: Optional[int]) -> None:
        self._folder = folder
        self.rank = rank
        self._pid = os.getpid()
        self._file: Optional[int] = None

    def emit(self, kind: str, **fields: Any) -> None:
        """Write one event; drop it when it cannot be written."""
        if self._folder is None or os.getpid() != self._pid:
            return
        event = {"time": time.time(), "kind": kind, "pid": self._pid, "rank": self.rank}
        event.update((name, _shortened(value)) for name, value in fields.items())
        try:
            line = json.dumps(event, ensure_ascii=False, default=str) + "\n"
            if self._file is None:
                path = os.path.join(self._folder, wire.events_name(self._pid))
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.write(self._file, line.encode("utf-8", "backslashreplace"))
        except (OSError, ValueError, TypeError, RecursionError):
            pass  # a full disk must not end a training that would otherwise go on


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return value[:_LONGEST_TEXT] + "…"
    return value
