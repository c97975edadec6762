"""How did the loss come to be NaN: after it had risen, or from the first step on?"""

import math
import re
import statistics
from collections.abc import Iterator, Sequence

ROSE, AT_ONCE, NOTHING = "loss rose before NaN", "NaN from the first step", "loss is 0 from the first step"
NAMES = frozenset({ROSE, AT_ONCE, NOTHING})
_VALUE = r"""['"]?\s*[:=]\s*['"]?(nan|NaN|-?inf|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"""
_LOSS = re.compile(r"(?<![\w])(?:lm )?loss" + _VALUE)
_NORM = re.compile(r"(?<![\w])grad[_ ]norm" + _VALUE)
_LATELY, _FEWEST = 3, 4
_TIMES = 2.0  # so much above what was usual is a rise


def tell_curve(text: str) -> Iterator[str]:
    """Give the names of what holds for the lines of a log up to the first that has a NaN, that one included."""
    losses, norms = _read(_LOSS, text), _read(_NORM, text)
    if any(math.isnan(value) for value in (*losses, *norms)):
        if _rose(losses) or _rose(norms):
            yield ROSE
        elif not any(math.isfinite(value) and value != 0 for value in (*losses, *norms)[:_LATELY]):
            yield AT_ONCE


def tell_beginning(text: str) -> Iterator[str]:
    """Give the names of what holds for the first steps of a log."""
    losses, norms = _read(_LOSS, text)[:_FEWEST], _read(_NORM, text)[:_FEWEST]
    if min(len(losses), len(norms)) >= _LATELY and not any(losses) and not any(norms):
        yield NOTHING


def _read(pattern: re.Pattern[str], text: str) -> Sequence[float]:
    return [float(value) for value in pattern.findall(text)]


def _rose(values: Sequence[float]) -> bool:
    """Say whether the last values before NaN are far above what was usual."""
    finite = [value for value in values if not math.isnan(value)]
    if len(finite) < _FEWEST:
        return False
    usual = statistics.median(finite[:-_LATELY] if len(finite) > 2 * _LATELY else finite[: len(finite) // 2])
    return max(finite[-_LATELY:]) > _TIMES * max(usual, 1e-9)
