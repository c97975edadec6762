"""How does a save become a checkpoint that can be trusted?

Once every rank of the world has said that its part is written, the files are read back, hashed and sealed, here and
not in the training.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

from laststep.checkpoints.let_go import let_go_of, unmark
from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.verify import Hashes, Manner, look_at_checkpoint
from laststep.host.clock import Clock
from laststep.host.priority import give_way
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_events
from laststep.journal.tail_events import EventTail
from laststep.journal.writer import Journal
from laststep.records.checkpoint import CheckedCheckpoint, SaveFacts, Soundness
from laststep.records.errors import LaststepError
from laststep.records.event import OwnEventKind
from laststep.records.text import Text, join_texts
from laststep.supervisor.console import Console
from laststep.supervisor.failed_saves import word_trouble
from laststep.supervisor.reported_saves import ReportedSave, ReportedSaves
from laststep.supervisor.resume_states import collect_states, discard_states

_LOOK_SECONDS = 0.5
_AGAIN_SECONDS = 10.0  # between tries to seal what could not be
_AGAIN_SHARE = 0.05  # of the time at most, for checkpoints that take long to read
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


class Sealing(AbstractContextManager[None]):
    """Seals the checkpoints of an attempt while it runs, and the last ones at its end."""

    def __init__(self, folder: RunFolder, place: AttemptFolder, *, console: Console, clock: Clock) -> None:
        self._folder = folder
        self._place = place
        self._console = console
        self._clock = clock
        self._began_at = clock.now()
        self._tail = EventTail(place.events)
        self._saves = ReportedSaves()
        self._unsealed: list[ReportedSave] = []
        self._again_at = 0.0
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
        if self._unsealed and (self._clock.monotonic() >= self._again_at or self._is_over.is_set()):
            again, self._unsealed = self._unsealed, []  # there was no room for a manifest, and there may be now
            for save in again:
                self._settle(save, is_again=True)
        for trouble in self._saves.note(self._tail.read_new()):
            if trouble.time > self._began_at:  # an earlier laststep has told of the others
                self._console.say(word_trouble(trouble), within_line=True)
        for save in self._saves.take_whole():
            if save.last_part_at > self._sealed_at.get(save.path, 0.0):
                self._settle(save)

    def _settle(self, save: ReportedSave, *, is_again: bool = False) -> None:
        if not Path(save.path).is_dir():
            return
        began = self._clock.monotonic()
        unmark(Path(save.path))
        try:
            checked = self._seal(save)
        except (OSError, LaststepError) as error:  # it stays sound, not sealed, and so it is judged
            fields: dict[str, Any] = {"soundness": Soundness.UNKNOWN.value, "problems": [str(error)]}
            self._unsealed.append(save)
            took = self._clock.monotonic() - began  # each try reads every byte
            self._again_at = self._clock.monotonic() + max(_AGAIN_SECONDS, took / _AGAIN_SHARE)
            if is_again:
                return
        else:
            fields = {"soundness": checked.soundness.value, "problems": [p.words.en for p in checked.problems]}
            self._tell(checked, save.step)
            if checked.soundness is Soundness.SOUND:
                self._let_go(save)
            if checked.is_sealed:
                discard_states(self._place, save.step)
        seconds = self._clock.monotonic() - began
        self._write(OwnEventKind.CHECKPOINT_SEALED, path=save.path, step=save.step, seconds=seconds, **fields)

    def _seal(self, save: ReportedSave) -> CheckedCheckpoint:
        states = collect_states(self._place, save.step)
        facts = SaveFacts(
            run_id=self._folder.run_id,
            step=save.step,
            world_size=save.world_size,
            data_position=_read_positions(states),
            random_states=states,
        )
        path = Path(save.path)
        try:
            return seal_checkpoint(path, facts, files=save.files)
        except (OSError, LaststepError):
            # Perhaps there is no room for the manifest, and the user's own limit makes some.
            manner = Manner(hashes=Hashes.IGNORED, reported=save.files)
            if not save.let_go or look_at_checkpoint(path, manner).soundness is not Soundness.SOUND:
                raise
            self._let_go(save)
            return seal_checkpoint(path, facts, files=save.files)

    def _let_go(self, save: ReportedSave) -> None:
        gone = let_go_of(save.let_go, newer=Path(save.path))
        if gone:
            self._write(OwnEventKind.CHECKPOINTS_REMOVED, paths=[str(path) for path in gone], newer=save.path)

    def _write(self, kind: str, **fields: Any) -> None:
        Journal(self._folder).add_event(kind, self._clock.now(), **fields)

    def _tell(self, checked: CheckedCheckpoint, step: int) -> None:
        if checked.soundness is Soundness.UNSOUND:
            problems = join_texts((problem.words for problem in checked.problems), between="; ")
            self._console.say(_UNSOUND.fill(step=step, problems=problems), within_line=True)


def _read_positions(states: dict[str, Any]) -> dict[str, Any]:
    return {rank: values["position"] for rank, values in states.items() if "position" in values}
