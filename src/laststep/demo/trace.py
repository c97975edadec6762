"""What does a run show while it goes on: its ranks' beats, its workers, its events?"""

from collections.abc import Sequence
from pathlib import Path

import psutil

from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events
from laststep.records.event import Event
from laststep_guard import wire


class RunTrace:
    """Looks into one attempt of a run folder again and again, cheaply."""

    def __init__(self, run_folder: Path, attempt: int = 1) -> None:
        self._folder = RunFolder(run_folder)
        self._attempt = self._folder.attempt(attempt)
        self._sizes: dict[Path, int] = {}
        self._events: list[Event] = []

    def beat(self, rank: int) -> wire.Beat | None:
        """Give the last sign of life of a rank; None before its first."""
        try:
            return wire.read_beat((self._attempt.beats / wire.beat_name(rank)).read_bytes())
        except FileNotFoundError:
            return None

    def events(self) -> Sequence[Event]:
        """Give everything reported so far, by time; read again only when a file has grown."""
        sizes = {path: path.stat().st_size for path in self._attempt.events.glob("*.jsonl")}
        if sizes != self._sizes:
            self._sizes, self._events = sizes, read_events(self._folder, self._attempt)
        return self._events

    def workers(self, rank_pid: int, loader: str) -> Sequence[int]:
        """Give the living workers of one of a rank's loaders: those it named, then those that replaced dead ones."""
        named: dict[str, list[int]] = {}
        for event in self.events():
            if event.kind == wire.EventKind.WORKERS_STARTED and event.pid == rank_pid:
                named.setdefault(str(event.fields.get("loader")), []).extend(event.fields.get("workers", ()))
        living = _forked_children(rank_pid)
        ours = [pid for pid in named.get(loader, ()) if pid in living]
        replacing = [pid for pid in living if not any(pid in pids for pids in named.values())]
        return [*ours, *replacing]


def _forked_children(pid: int) -> list[int]:
    """Give the children that run their parent's program: a forked worker does, a tracker or a compiler does not."""
    try:
        parent = psutil.Process(pid)
        words = parent.cmdline()
        return [child.pid for child in parent.children() if _is_living(child) and child.cmdline() == words]
    except psutil.NoSuchProcess:  # one of them has just ended: nothing is sure, look again
        return []


def _is_living(process: psutil.Process) -> bool:
    return bool(process.status() != psutil.STATUS_ZOMBIE)
