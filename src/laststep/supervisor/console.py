"""What does supervising need of whoever talks with the user?"""

from typing import Protocol

from laststep.records.text import Text


class Console(Protocol):
    """Shows a line to the user. `cli/render.py` is the real one."""

    def say(self, text: Text, *, within_line: bool = False) -> None:
        """Show a line; `within_line`: the output has left one open, so begin a new one first."""
        ...

    def ask(self, question: Text) -> bool:
        """Ask the user, who sits at a terminal."""
        ...
