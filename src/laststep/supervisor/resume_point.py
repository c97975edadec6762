"""Where can a run go on?

From its newest sound checkpoint. A checkpoint belongs to the run that wrote it: the folder may still hold those of an
earlier run that got further.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from laststep.checkpoints.choose import Choice, choose_checkpoint
from laststep.checkpoints.find import find_checkpoints
from laststep.checkpoints.sealed_files import find_manifest
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events
from laststep.records.checkpoint import CheckedCheckpoint, Problem
from laststep.records.errors import LaststepError
from laststep.records.event import Event
from laststep.records.resume import ResumePoint, SkippedCheckpoint
from laststep.records.text import Text
from laststep_guard import wire

_IN_FILE = Text(en="{file}: {words}", zh="{file}：{words}")
_COULD_NOT_TELL = Text(en="could not be verified", zh="无法校验")


def find_resume_point(folder: RunFolder) -> ResumePoint | None:
    """Find the newest sound checkpoint of a run; None when it has none."""
    return read_point(look_for_point(folder))


def look_for_point(folder: RunFolder) -> Choice:
    """Look through the checkpoints that a run wrote, newest first, up to the first sound one."""
    return choose_checkpoint(list_own_checkpoints(folder), run_id=folder.run_id)


def read_point(choice: Choice) -> ResumePoint | None:
    """Say where a choice lets the run go on; None when it leaves nothing."""
    chosen = choice.chosen
    if chosen is None or chosen.step is None:
        return None
    return ResumePoint(path=chosen.path, step=chosen.step, skipped=list_skipped(choice))


def list_skipped(choice: Choice) -> tuple[SkippedCheckpoint, ...]:
    """List what was passed over, with what is wrong with each."""
    return tuple(_skip(checked) for checked in choice.skipped)


def list_own_checkpoints(folder: RunFolder) -> list[Path]:
    """List the checkpoints there are that this run wrote, newest first."""
    events = read_events(folder)
    reported = {str(event.fields.get("path")) for event in events if event.kind in _SAVES}
    found = {path for place in _list_output_folders(events) for path in _find(place)}
    own = [path for path in found if _belongs(path, folder.run_id, reported)]
    return sorted(own, key=_step_of, reverse=True)


_SAVES = (wire.EventKind.CHECKPOINT_SAVED, wire.EventKind.SAVE_PART_DONE)


def _belongs(path: Path, run_id: str, reported: set[str]) -> bool:
    manifest = find_manifest(path)
    if manifest is not None and manifest.run_id is not None:
        return manifest.run_id == run_id
    return str(path) in reported


def _list_output_folders(events: Sequence[Event]) -> Iterator[Path]:
    told = [event.fields.get("output_dir") for event in events if event.kind == wire.EventKind.TRAIN_BEGAN]
    yield from {Path(str(name)) for name in told if name}


def _find(place: Path) -> tuple[Path, ...]:
    try:
        return find_checkpoints(place)
    except LaststepError:
        return ()  # there is no such folder, or nothing in it


def _step_of(path: Path) -> int:
    number = path.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _skip(checked: CheckedCheckpoint) -> SkippedCheckpoint:
    reasons = tuple(_word(problem) for problem in checked.problems) or (_COULD_NOT_TELL,)
    return SkippedCheckpoint(path=checked.path, step=checked.step, reasons=reasons)


def _word(problem: Problem) -> Text:
    return problem.words if problem.file is None else _IN_FILE.fill(file=problem.file, words=problem.words)
