"""What can go wrong in a way that a user can act on?

LaststepError
├── CommandError      the command cannot be read, found or started
└── RunNotFoundError  no run, or more than one, goes by that name
"""


class LaststepError(Exception):
    """Carries a message for users: what was seen, then what to do."""

    exit_code = 2


class CommandError(LaststepError):
    """The command cannot be read, found or started."""

    def __init__(self, message: str, *, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class RunNotFoundError(LaststepError):
    """No run, or more than one, goes by that name."""
