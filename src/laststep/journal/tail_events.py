"""Which events have been written since the last look?"""

from pathlib import Path

from laststep.journal.reader import read_event
from laststep.records.event import Event


class EventTail:
    """Follows the event files of a folder; a line that is not whole yet is read the next time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read_bytes: dict[str, int] = {}

    def read_new(self) -> list[Event]:
        """Read what is new, in the order of time."""
        try:
            paths = sorted(self._folder.glob("*.jsonl"))
        except OSError:
            return []
        return sorted((event for path in paths for event in self._read(path)), key=lambda event: event.time)

    def _read(self, path: Path) -> list[Event]:
        begin = self._read_bytes.get(path.name, 0)
        try:
            with path.open("rb") as file:
                file.seek(begin)
                whole, newline, _ = file.read().rpartition(b"\n")
        except OSError:
            return []
        self._read_bytes[path.name] = begin + len(whole) + len(newline)
        events = (read_event(line) for line in whole.splitlines())
        return [event for event in events if event is not None]
