"""Where can a run go on?

From its newest sound checkpoint. A checkpoint belongs to the run that wrote it: the folder may still hold those of an
earlier run that got further.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from laststep.checkpoints.find import find_checkpoints
from laststep.checkpoints.sealed_files import read_manifest
from laststep.checkpoints.verify import verify_checkpoint
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events
from laststep.records.checkpoint import CheckedCheckpoint, Soundness
from laststep.records.errors import LaststepError
from laststep.records.event import Event
from laststep.records.resume import ResumePoint, SkippedCheckpoint
from laststep.records.text import Text
from laststep_guard import wire

_COULD_NOT_TELL = Text(en="could not be verified", zh="无法校验")


def find_resume_point(folder: RunFolder) -> ResumePoint | None:
    """Find the newest sound checkpoint of a run; None when it has none."""
    skipped: list[SkippedCheckpoint] = []
    for path in list_own_checkpoints(folder):
        checked = verify_checkpoint(path)
        if checked.soundness is Soundness.SOUND and checked.step is not None:
            return ResumePoint(path=str(path), step=checked.step, skipped=tuple(skipped))
        skipped.append(_skip(checked))
    return None


def list_skipped(folder: RunFolder) -> tuple[SkippedCheckpoint, ...]:
    """List the checkpoints of a run that is left without a sound one, with what is wrong with each."""
    return tuple(_skip(verify_checkpoint(path)) for path in list_own_checkpoints(folder))


def list_own_checkpoints(folder: RunFolder) -> list[Path]:
    """List the checkpoints there are that this run wrote, newest first."""
    events = read_events(folder)
    reported = {str(event.fields.get("path")) for event in events if event.kind in _SAVES}
    found = {path for place in _list_output_folders(events) for path in _find(place)}
    own = [path for path in found if _belongs(path, folder.run_id, reported)]
    return sorted(own, key=_step_of, reverse=True)


_SAVES = (wire.EventKind.CHECKPOINT_SAVED, wire.EventKind.SAVE_PART_DONE)


def _belongs(path: Path, run_id: str, reported: set[str]) -> bool:
    manifest = read_manifest(path)
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
    reasons = tuple(problem.words for problem in checked.problems) or (_COULD_NOT_TELL,)
    return SkippedCheckpoint(path=checked.path, step=checked.step, reasons=reasons)
