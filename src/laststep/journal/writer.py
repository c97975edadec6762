"""How do the run's own records get onto disk?"""

import contextlib
import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from laststep.journal.layout import AttemptFolder, RunFolder, new_run_name, runs_folder

_ROOM_TRIED_BYTES = 64 * 1024  # a folder that cannot take this much is of no use
_PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """A new run folder, or why there is none (`folder` None), or why it is a temporary one."""

    folder: RunFolder | None
    problem: str | None = None


def open_run_folder(home: Path, *, model: str, started_at: float) -> OpenedFolder:
    """Make the folder of a new run. Where the home takes none, one in memory serves for the guard's beats."""
    name = new_run_name(model, started_at)
    try:
        return OpenedFolder(_make_folder(runs_folder(home) / name, is_temporary=False))
    except OSError as error:
        problem = f"{runs_folder(home)}: {error.strerror or error}"
    for place in (Path("/dev/shm"), Path(tempfile.gettempdir())):  # noqa: S108  # private folders below, mode 0700
        with contextlib.suppress(OSError):
            return OpenedFolder(_make_folder(place / f"laststep-{os.getuid()}-{name}", is_temporary=True), problem)
    return OpenedFolder(None, problem)


def make_attempt_folder(folder: RunFolder, number: int) -> AttemptFolder:
    """Make the folder of one launch, with the places the guard writes to."""
    attempt = folder.attempt(number)
    for path in (attempt.beats, attempt.events, attempt.states, attempt.fingerprints, attempt.requests):
        _make_private(path)
    return attempt


class Journal:
    """Writes the run's records. What cannot be written is dropped: no record is worth a training."""

    def __init__(self, folder: RunFolder | None) -> None:
        self.folder = folder

    def write_run(self, values: dict[str, Any]) -> None:
        """Write what the run is: command, environment, where it was started."""
        if self.folder is not None:
            _replace(self.folder.run, values)

    def write_report(self, values: dict[str, Any]) -> None:
        if self.folder is not None:
            _replace(self.folder.report, values)

    def add_event(self, kind: str, at: float, **fields: Any) -> None:
        """Append one fact to laststep's own events; `at` is in seconds since the epoch."""
        if self.folder is None:
            return
        line = msgspec.json.encode({"time": at, "kind": kind, "pid": os.getpid(), "rank": None, **fields}) + b"\n"
        try:
            with _open_private(self.folder.events, os.O_APPEND) as file:
                file.write(line)
        except OSError:
            return


def _make_folder(path: Path, *, is_temporary: bool) -> RunFolder:
    _make_private(path)
    try:
        trial = path / "trial"
        with _open_private(trial, os.O_TRUNC) as file:
            # Allocated, not only written: some file systems find out about a full disk much later.
            os.posix_fallocate(file.fileno(), 0, _ROOM_TRIED_BYTES)
        trial.unlink()
    except OSError:
        _remove(path, ("trial",))
        raise
    return RunFolder(path, is_temporary)


def _make_private(path: Path) -> None:
    """Make a folder and those above it that are missing, for their owner alone; mkdir makes parents for all."""
    if not path.parent.exists():
        _make_private(path.parent)
    path.mkdir(mode=_PRIVATE, exist_ok=True)


def _remove(path: Path, names: Sequence[str]) -> None:
    for name in names:
        (path / name).unlink(missing_ok=True)
    path.rmdir()


def _replace(path: Path, values: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _open_private(beside, os.O_TRUNC) as file:
            file.write(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()


def _open_private(path: Path, flags: int) -> io.FileIO:
    fd = os.open(path, flags | os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return io.FileIO(fd, "w")  # unbuffered: what cannot be written fails here and not on closing
