"""Where in a command does an option stand, and what is its value?

Read as argparse does: with a space or a `=` before the value, dashes or underscores in the name, the last one wins. An
option without a value means true.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from laststep.planning.dialects.dialect import Spelling


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command: the words from `begin` to before `end`."""

    begin: int
    end: int
    value: str


def find_options(argv: Sequence[str], name: str, spelling: Spelling) -> Iterator[Option]:
    """Find an option wherever it stands."""
    for place, word in enumerate(argv):
        told, sign, value = word.partition("=")
        if spelling is Spelling.KEY:
            if sign and told == name:
                yield Option(place, place + 1, value)
        elif told.startswith("-") and told.lstrip("-").replace("-", "_") == name:
            if sign:
                yield Option(place, place + 1, value)
            elif place + 1 < len(argv) and not argv[place + 1].startswith("--"):
                yield Option(place, place + 2, argv[place + 1])
            else:
                yield Option(place, place + 1, "true")


def write_option(
    argv: Sequence[str], name: str, value: str | None, spelling: Spelling, *, at: int | None = None
) -> list[str]:
    """Write an option where it stands, else at `at` (the end, if None). `value` None takes it out."""
    found = list(find_options(argv, name, spelling))
    words = _spell(argv, found, name, value, spelling) if value is not None else []
    written = list(argv)
    if not found:
        place = len(written) if at is None else at
        return [*written[:place], *words, *written[place:]]
    # The last one wins; those before it are left as they were typed.
    for option in reversed(found if value is None else found[-1:]):
        written[option.begin : option.end] = words
    return written


def _spell(argv: Sequence[str], found: Sequence[Option], name: str, value: str, spelling: Spelling) -> list[str]:
    if spelling is Spelling.KEY:
        return [f"{name}={value}"]
    told, sign, _ = argv[found[-1].begin].partition("=") if found else (f"--{name}", "", "")
    return [f"{told}={value}"] if sign else [told, value]
