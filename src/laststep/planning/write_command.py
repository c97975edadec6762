"""How does a command go on from a checkpoint, with everything else as it was typed?"""

from collections.abc import Sequence
from dataclasses import replace

from laststep.planning.dialects.catalog import DIALECTS
from laststep.planning.dialects.dialect import Dialect, without_flags
from laststep.records.command import Command


def find_dialect(argv: Sequence[str]) -> Dialect:
    """Find the launcher's language; the last of them takes any command."""
    return next(dialect for dialect in DIALECTS if dialect.recognises(argv))


def write_resume(command: Command, checkpoint: str) -> Command:
    """Add the resume flag to a command. Where its launcher has none it stays as it is, and the guard does it."""
    dialect = find_dialect(command.argv)
    if dialect.add_resume is None:
        return command
    return replace(command, argv=dialect.add_resume(command.argv, checkpoint))


def list_differences(before: Sequence[str], now: Sequence[str]) -> tuple[tuple[str | None, str | None], ...]:
    """List the words that differ between two commands, leaving aside where a run goes on: (before, now) pairs."""
    flags = find_dialect(now).resume_flags
    return tuple(_compare(_group(without_flags(before, flags)), _group(without_flags(now, flags))))


def list_word_differences(before: Command, now: Command) -> tuple[tuple[str | None, str | None], ...]:
    """List the options and variables that differ between two commands: (before, now) pairs."""
    variables = _compare(
        {f"{name}=": value for name, value in before.environment.items()},
        {f"{name}=": value for name, value in now.environment.items()},
    )
    return (*variables, *_compare(_group(before.argv), _group(now.argv)))


def _group(argv: Sequence[str]) -> dict[str, str]:
    """Put a flag and its values together, so that the order of flags does not count."""
    groups: dict[str, str] = {}
    name, position = "", 0
    for word in argv:
        flag, sign, value = word.partition("=")
        if word.startswith("-") and len(flag) > 1 and not flag[1].isdigit():
            name = flag
            groups[name] = value if sign else ""
        elif name:
            groups[name] = f"{groups[name]} {word}".strip()
        else:
            position += 1
            groups[f"{position}"] = word
    return groups


def _compare(before: dict[str, str], now: dict[str, str]) -> list[tuple[str | None, str | None]]:
    names = [*before, *(name for name in now if name not in before)]
    return [
        (_write(name, before.get(name)), _write(name, now.get(name)))
        for name in names
        if before.get(name) != now.get(name)
    ]


def _write(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    if name.endswith("="):  # a variable
        return f"{name}{value}"
    return value if name.isdigit() else f"{name} {value}".strip()
