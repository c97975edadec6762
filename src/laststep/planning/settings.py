"""What does a command set, in neutral words, and how is a change of it written?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from laststep.planning.dialects.dialect import Dialect, Spelling
from laststep.planning.launchers import find_launcher
from laststep.planning.options import find_options, write_option
from laststep.planning.write_command import find_dialect
from laststep.records.command import Command
from laststep.records.settings import Setting, Settings


def read_settings(command: Command) -> Settings:
    """Read what a command sets, what its launcher takes for granted, and what it can be told."""
    dialect, launcher = find_dialect(command.argv), find_launcher(command.argv)
    spelling = dialect.spelling(command.argv)
    given = _read(command.argv, dialect.names, spelling)
    told = {name: command.environment[variable] for name, variable in dialect.variables.items()
            if variable in command.environment}  # fmt: skip
    launched = _read(command.argv, launcher[0].names, Spelling.FLAG) if launcher is not None else {}
    # What stands in a file of the command is not known here, so nothing is taken for granted beside one.
    defaults = dialect.defaults if spelling is Spelling.FLAG else {}
    known = frozenset(dialect.names) if dialect.may_add else frozenset(given)
    known |= frozenset(dialect.variables) | frozenset(launcher[0].names if launcher is not None else ())
    return Settings(values={**defaults, **told, **launched, **given}, environment=command.environment, known=known)


def write_settings(command: Command, before: Settings, now: Settings) -> Command:
    """Write what changed between two settings into a command, each where it stands already, else where it belongs."""
    dialect, launcher = find_dialect(command.argv), find_launcher(command.argv)
    argv, environment = list(command.argv), dict(now.environment)
    for name, value in now.values.items():
        if before.values.get(name) == value:
            continue
        if launcher is not None and name in launcher[0].names:
            argv = write_option(argv, launcher[0].names[name], value, Spelling.FLAG, at=launcher[1])
        elif name in dialect.variables:
            environment[dialect.variables[name]] = value or ""
        else:
            argv = write_option(argv, dialect.names[name], value, dialect.spelling(argv))
    return replace(command, argv=tuple(argv), environment=environment)


def _read(argv: Sequence[str], names: Mapping[Setting, str], spelling: Spelling) -> dict[Setting, str | None]:
    found = {name: list(find_options(argv, option, spelling)) for name, option in names.items()}
    return {name: options[-1].value for name, options in found.items() if options}


def knows_launcher(command: Command) -> bool:
    """Say whether a launcher or a dialect of its own is recognised, rather than any program."""
    dialect: Dialect = find_dialect(command.argv)
    return dialect.name != "plain" or find_launcher(command.argv) is not None
