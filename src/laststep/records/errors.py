"""What can go wrong in laststep that a caller acts on?

LaststepError             an error with a message for the user
├── CommandError          the command cannot be read, found or started
├── RunNotFoundError      no run, or more than one, goes by that name
├── CheckpointError       what was named is no checkpoint, or cannot be looked at
└── InputError            what was to be read cannot be
"""

from laststep.records.text import Text, join_texts


class LaststepError(Exception):
    """Carries a message for the user: what was seen, then what to do. As a string it is English, for logs."""

    exit_code = 2

    def __init__(self, text: Text) -> None:
        super().__init__(text.en)
        self.text = text


class CommandError(LaststepError):
    """The command cannot be read, found or started. Holds every problem of the input, not only the first."""

    def __init__(self, *problems: Text, exit_code: int = 2) -> None:
        super().__init__(join_texts(problems))
        self.problems = problems
        self.exit_code = exit_code


class RunNotFoundError(LaststepError):
    """No run, or more than one, goes by that name."""


class CheckpointError(LaststepError):
    """What was named is no checkpoint, or cannot be looked at."""


class InputError(LaststepError):
    """What was to be read cannot be."""
