"""What was each step made of?"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The rows that a step was made of, as a digest, and its logged loss; None where not known."""

    rows: str | None
    loss: float | None


def read_fingerprints(path: Path) -> Mapping[int, Fingerprint]:
    """Read a rank's fingerprints by step; a torn last line is normal, and a step made twice counts as made last."""
    steps: dict[int, Fingerprint] = {}
    for values in _read_lines(path):
        step = int(values["step"])
        before = steps.get(step, Fingerprint(None, None))
        rows, loss = values.get("rows") or before.rows, values.get("loss")
        steps[step] = Fingerprint(rows, float(loss) if loss is not None else before.loss)
    return steps


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(ValueError):
            values = json.loads(line)  # a loss may be NaN, which msgspec takes for no JSON
            if isinstance(values, dict) and isinstance(values.get("step"), int):
                yield values
