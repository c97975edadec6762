"""How does a save become a checkpoint that can be trusted?

Once every rank of the world has said that its part is written, the files are read back, hashed and sealed, here and
not in the training.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from laststep.checkpoints.manifest import seal_checkpoint
from laststep.host.clock import Clock
from laststep.host.priority import give_way
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_events
from laststep.journal.tail_events import EventTail
from laststep.journal.writer import Journal
from laststep.records.checkpoint import CheckedCheckpoint, SaveFacts, Soundness
from laststep.records.errors import LaststepError
from laststep.records.event import Event, OwnEventKind
from laststep.records.text import Text, join_texts
from laststep.supervisor.console import Console
from laststep.supervisor.resume_states import collect_states, discard_states
from laststep_guard import wire

_LOOK_SECONDS = 0.5
_SOON_SECONDS = 3.0  # after which the user is told what takes so long
_SEALING = Text(
    en="reading the last checkpoint back to seal it; Ctrl-C leaves it unsealed",
    zh="正在读回最后一个检查点以封存；按 Ctrl-C 可跳过",
)
_UNSOUND = Text(
    en="the checkpoint of step {step} is not sound and will not be used: {problems}",
    zh="第 {step} 步的检查点不可靠，不会被使用：{problems}",
)


def seal_saves(
    folder: RunFolder | None, place: AttemptFolder | None, *, console: Console, clock: Clock
) -> AbstractContextManager[None]:
    """Seal the checkpoints of an attempt while the context lasts; without a run folder nothing is known of them."""
    if folder is None or place is None:
        return nullcontext()
    return Sealing(folder, place, console=console, clock=clock)


@dataclass(slots=True)
class _Save:
    """What the ranks have said about one save."""

    step: int
    world_size: int
    files: dict[str, int] = field(default_factory=dict)  # bytes by name
    ranks: set[int] = field(default_factory=set)
    last_part_at: float = 0.0

    @property
    def is_whole(self) -> bool:
        return len(self.ranks) >= self.world_size


class Sealing(AbstractContextManager[None]):
    """Seals the checkpoints of an attempt while it runs, and the last ones at its end."""

    def __init__(self, folder: RunFolder, place: AttemptFolder, *, console: Console, clock: Clock) -> None:
        self._folder = folder
        self._place = place
        self._console = console
        self._clock = clock
        self._tail = EventTail(place.events)
        self._saves: dict[str, _Save] = {}
        self._sealed_at = {
            str(event.fields.get("path")): event.time
            for event in read_events(folder, place)
            if event.kind == OwnEventKind.CHECKPOINT_SEALED
        }
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="laststep-sealing", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._is_over.set()
        if _type is None:  # whoever leaves the run running is not made to wait for it
            self._thread.join(_SOON_SECONDS)
            if self._thread.is_alive():
                self._console.say(_SEALING, within_line=True)
                self._thread.join()

    def _work(self) -> None:
        give_way()
        while not self._is_over.wait(_LOOK_SECONDS):
            self._look()
        self._look()

    def _look(self) -> None:
        for event in self._tail.read_new():
            if event.kind == wire.EventKind.SAVE_PART_DONE:
                self._note(event)
        for path in [path for path, save in self._saves.items() if save.is_whole]:
            save = self._saves.pop(path)
            if save.last_part_at > self._sealed_at.get(path, 0.0) and Path(path).is_dir():
                self._seal(path, save)

    def _note(self, event: Event) -> None:
        values = event.fields
        path, step = str(values.get("path")), int(values.get("step") or 0)
        save = self._saves.setdefault(path, _Save(step, int(values.get("world_size") or 1)))
        save.files.update(values.get("files") or {})
        save.ranks.add(event.rank or 0)
        save.last_part_at = event.time

    def _seal(self, path: str, save: _Save) -> None:
        began = self._clock.monotonic()
        states = collect_states(self._place, save.step)
        facts = SaveFacts(
            run_id=self._folder.run_id,
            step=save.step,
            world_size=save.world_size,
            data_position=_read_positions(states),
            random_states=states,
        )
        try:
            checked = seal_checkpoint(Path(path), facts, files=save.files)
        except (OSError, LaststepError) as error:  # it stays sound, not sealed, and so it is judged
            fields: dict[str, Any] = {"soundness": Soundness.UNKNOWN.value, "problems": [str(error)]}
        else:
            fields = {"soundness": checked.soundness.value, "problems": [p.words.en for p in checked.problems]}
            self._tell(checked, save.step)
            if checked.is_sealed:
                discard_states(self._place, save.step)
        seconds = self._clock.monotonic() - began
        Journal(self._folder).add_event(
            OwnEventKind.CHECKPOINT_SEALED, self._clock.now(), path=path, step=save.step, seconds=seconds, **fields
        )

    def _tell(self, checked: CheckedCheckpoint, step: int) -> None:
        if checked.soundness is Soundness.UNSOUND:
            problems = join_texts((problem.words for problem in checked.problems), between="; ")
            self._console.say(_UNSOUND.fill(step=step, problems=problems), within_line=True)


def _read_positions(states: dict[str, Any]) -> dict[str, Any]:
    return {rank: values["position"] for rank, values in states.items() if "position" in values}
