"""Which plain texts does a line have to hold, one at least, so that an expression can match it?

So that a log of a gigabyte is searched for plain texts, all at once, and only the lines that hold one are looked at.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    from re import _parser as sre_parse
else:  # pragma: no cover  # the same module under its older name
    import sre_parse

SHORTEST = 4  # a text that is shorter is in too many lines


def find_literals(expression: str) -> tuple[str, ...]:
    """Find the texts, the longest that will do. Raises ValueError for an expression that has none."""
    texts = _best(list(sre_parse.parse(expression)))  # type: ignore[call-overload]  # a sequence by duck typing
    if texts is None or min(map(len, texts)) < SHORTEST:
        raise ValueError(f"no text of {SHORTEST} letters is in every match of {expression!r}")
    return texts


def _best(items: Sequence[Any]) -> tuple[str, ...] | None:
    """Choose, among the texts that a sequence cannot be without, those whose shortest is longest."""
    choices = list(_required(items))
    return max(choices, key=lambda texts: min(map(len, texts)), default=None)


def _required(items: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    run = ""
    for operation, value in items:
        if str(operation) == "LITERAL":
            run += chr(value)
            continue
        if run:
            yield (run,)
            run = ""
        yield from _inside(str(operation), value)
    if run:
        yield (run,)


def _inside(operation: str, value: Any) -> Iterator[tuple[str, ...]]:
    if operation == "SUBPATTERN":
        yield from _required(list(value[3]))
    elif operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] > 0:
        yield from _required(list(value[2]))
    elif operation == "BRANCH":
        branches = [_best(list(branch)) for branch in value[1]]
        if all(branch is not None for branch in branches):
            yield tuple(text for branch in branches if branch is not None for text in branch)
