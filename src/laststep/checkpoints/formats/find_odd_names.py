"""Which tensor has a name that a flipped bit made?"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

_NUMBER = re.compile(r"\d+")


def find_odd_names(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each name that fits no pattern of the others, with the name that is missing and differs in one character.

    Layers repeat: `layers.0.mlp.weight`, `layers.1.mlp.weight`. A name that stands alone, where one of a repeated kind
    is missing that looks the same but for a character, is that one, damaged. Nothing else is judged.
    """
    numbers: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for name in names:
        numbers[_NUMBER.sub("#", name)].add(tuple(_NUMBER.findall(name)))
    repeated = {kind: found for kind, found in numbers.items() if len(found) > 1}
    for kind, found in numbers.items():
        if len(found) > 1:
            continue
        (own,) = found
        lone = _fill(kind, own)
        for other, present in repeated.items():
            if _differ_in_one(kind, other) and kind.count("#") == other.count("#") and own not in present:
                yield lone, _fill(other, own)
                break


def _differ_in_one(one: str, other: str) -> bool:
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _fill(kind: str, numbers: tuple[str, ...]) -> str:
    parts = iter(numbers)
    return re.sub("#", lambda _: next(parts, "#"), kind)
