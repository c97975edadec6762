"""What have the ranks said about their saves?

Each says when its part is written, or that a file could not be; the rank that rotates also says which older checkpoints
the user's own limit lets go of.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from laststep.records.event import Event
from laststep_guard.wire import EventKind


@dataclass(slots=True)
class ReportedSave:
    """One save, as far as the ranks have told."""

    path: str
    step: int
    world_size: int = 0  # 0: nobody has said
    files: dict[str, int] = field(default_factory=dict)  # bytes by name
    ranks: set[int] = field(default_factory=set)
    last_part_at: float = 0.0
    has_failed: bool = False
    let_go: list[str] = field(default_factory=list)  # older checkpoints, once this one is sound

    @property
    def is_whole(self) -> bool:
        return not self.has_failed and 0 < self.world_size <= len(self.ranks)


class ReportedSaves:
    """The saves of an attempt that are not dealt with yet."""

    def __init__(self) -> None:
        self._saves: dict[str, ReportedSave] = {}

    def note(self, events: Iterable[Event]) -> Iterator[Event]:
        """Take what the ranks have said, and give back what the user is to hear at once."""
        for event in events:
            if event.kind == EventKind.SAVE_WAITS:
                yield event
            if event.kind not in (EventKind.SAVE_PART_DONE, EventKind.SAVE_FAILED, EventKind.RETENTION_DUE):
                continue
            path = str(event.fields.get("path"))
            save = self._saves.setdefault(path, ReportedSave(path, int(event.fields.get("step") or 0)))
            if event.kind == EventKind.SAVE_FAILED:
                save.has_failed = True
                yield event
            elif event.kind == EventKind.RETENTION_DUE:
                save.let_go = [str(name) for name in event.fields.get("remove") or ()]
            else:
                _note_part(save, event)

    def take_whole(self) -> list[ReportedSave]:
        """Take out the saves that every rank has finished."""
        whole = [save for save in self._saves.values() if save.is_whole]
        for save in whole:
            del self._saves[save.path]
        return whole


def _note_part(save: ReportedSave, event: Event) -> None:
    save.world_size = int(event.fields.get("world_size") or 1)
    save.files.update(event.fields.get("files") or {})
    save.ranks.add(event.rank or 0)
    save.last_part_at = event.time
