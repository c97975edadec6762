"""Which name did a flipped bit change?"""

from collections.abc import Iterable, Iterator


def find_misspelt(names: Iterable[str], known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each unknown name that differs in one character from a known one which is absent."""
    present, known = set(names), set(known)
    for name in sorted(present - known):
        for other in sorted(known - present):
            if len(name) == len(other) and sum(a != b for a, b in zip(name, other, strict=True)) == 1:
                yield name, other
                break
