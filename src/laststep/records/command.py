"""What was asked to be run?"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

from laststep.records.text import Text

COMMAND_LINE = Text(en="the command line", zh="命令行")


@dataclass(frozen=True, slots=True)
class Command:
    """A training command as typed: what to start, and what the text said to set around it."""

    argv: tuple[str, ...]
    _: KW_ONLY
    environment: Mapping[str, str] = field(default_factory=dict)  # assignments and exports, in the order of the text
    source: str | Text = COMMAND_LINE  # what it was read from, for messages; a file by its name
    background: bool = False  # the text ended in `&`
    working_directory: str | None = None  # None: where laststep was started
    output_file: str | None = None  # `> FILE` of the text: the run's output is copied there as well
    output_appends: bool = False  # `>>` rather than `>`
    notes: tuple[Text, ...] = ()  # what reading changed or left out, to be told once
