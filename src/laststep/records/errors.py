"""What can go wrong in laststep that a caller acts on?

LaststepError                an error with a message for the user; exit code 2 unless said otherwise
└── CommandError             the command cannot be read or found: nothing was started
"""

from collections.abc import Sequence


class LaststepError(Exception):
    """Carries a message for the user: what was seen, then what to do."""

    exit_code = 2


class CommandError(LaststepError):
    """The command cannot be read or found. Holds every problem of the input, not only the first."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems: Sequence[str] = problems
