"""What was each step made of?

One JSON line a step, with a digest of its rows, and one where a loss was logged. A resumed run is compared with what
it did before by them, so a line costs microseconds and says nothing that depends on the process.
"""

import hashlib
import json
import os
from typing import Any, List, Optional

from laststep_guard import wire


class Fingerprints:
    """Appends to a rank's file. What cannot be written is dropped."""

    def __init__(self, folder: Optional[str], rank: int) -> None:
        self._path = os.path.join(folder, wire.fingerprints_name(rank)) if folder is not None else None
        self._file: Optional[int] = None

    def note_step(self, step: int, batches: List[Any]) -> None:
        """Note the rows of a step's micro-batches; an iterable data set has none to name."""
        known = bool(batches) and all(indices is not None for indices in batches)
        self._write({"step": step, "rows": _digest(batches) if known else None})

    def note_loss(self, step: int, loss: Any) -> None:
        """Note a logged loss, with all its digits."""
        if isinstance(loss, (int, float)):
            self._write({"step": step, "loss": float(loss)})

    def _write(self, values: Any) -> None:
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.write(self._file, (json.dumps(values) + "\n").encode())
        except OSError:
            pass  # a full disk must not end a training


def _digest(batches: List[Any]) -> str:
    return hashlib.blake2b(repr(batches).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
