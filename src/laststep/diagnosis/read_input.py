"""What is a path that somebody wants to have diagnosed: a log, a run folder, an output folder, an archive of one?"""

import contextlib
import gzip
import os
import shlex
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from laststep.diagnosis.read_log import Chunk, read_chunks
from laststep.diagnosis.run_facts import REACHED, tell_run
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_attempt_ending, read_object
from laststep.records.errors import InputError
from laststep.records.text import Text
from laststep.records.verdict import Evidence, Whereabouts

UNREADABLE = Text(en="{path} cannot be read: {reason}", zh="无法读取 {path}：{reason}")
_NOTHING = Text(
    en="{path} holds no log: no *.log, *.out, *.err, logging.jsonl or trainer_state.json. Name the file"
    " that the output went to",
    zh="{path} 中没有日志（*.log、*.out、*.err、logging.jsonl 或 trainer_state.json）。请指定输出所在的文件",
)
_ENDS = (".log", ".out", ".err", ".log.txt")
_NAMES = ("logging.jsonl", "trainer_state.json", "error.json", "log.txt", "output.txt", "stdout", "stderr")
_RUN_NAMES = ("run.json", "events.jsonl", "ending.json")
_DEEPEST = 6  # folders: torchrun puts what a rank printed under RUN/attempt_0/RANK
_MOST_FILES = 256  # a folder with more logs is none of one run; the newest are read
_MOST_ARCHIVED_BYTES = 8 << 30  # of logs in an archive; a longer one is read so far
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Log:
    """A file to be read, and how it is named in the evidence. It begins after so many bytes of earlier attempts."""

    name: str
    path: Path
    begin: int = 0


@dataclass(frozen=True, slots=True)
class Input:
    """What there is to read: logs in the order in which they were written, facts of the run's record, the command."""

    name: str
    logs: tuple[Log, ...]
    facts: Mapping[str, Evidence | None] = field(default_factory=dict)
    command: str = ""
    run: RunFolder | None = None
    where: Whereabouts | None = None  # where its ranks were last, as far as their beats tell

    def read(self, tick: Callable[[int, int], None] | None = None) -> Iterator[Chunk]:
        """Read all logs, one after the other; `tick` hears how many bytes of how many are read. Raises InputError."""
        done, total = 0, sum(_size(log) for log in self.logs)
        for log in self.logs:
            for chunk in _read(log):
                yield chunk
                done += len(chunk.data)
                if tick is not None:
                    tick(min(done, total), total)


def _size(log: Log) -> int:
    try:
        return log.path.stat().st_size - log.begin
    except OSError:
        return 0


def _read(log: Log) -> Iterator[Chunk]:
    try:
        with _open(log.path) as file:
            yield from read_chunks(file, log.name, _skip(file, log.begin))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(UNREADABLE.fill(path=log.path, reason=_word(error))) from error


def _skip(file: BinaryIO, count: int) -> int:
    """Read past so many bytes. Gives the number of the line that follows."""
    line = 1
    while count > 0 and (piece := file.read(min(count, 1 << 20))):
        count -= len(piece)
        line += piece.count(b"\n")
    return line


@contextlib.contextmanager
def open_input(path: Path) -> Iterator[Input]:
    """Find out what a path is. What is unpacked from an archive goes when it was read. Raises InputError."""
    try:
        if path.is_dir():
            yield _look_into(path, path)
        elif _is_archive(path):
            with tempfile.TemporaryDirectory(prefix="laststep-") as folder:
                _unpack(path, Path(folder))
                yield _look_into(Path(folder), path)
        else:
            log = Log(str(path), path)
            yield Input(str(path), (log,), _read_state(log))
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise InputError(UNREADABLE.fill(path=path, reason=_word(error))) from error


def _word(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _open(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        is_packed = file.read(2) == _GZIP
    return gzip.open(path, "rb") if is_packed else path.open("rb")  # type: ignore[return-value]  # it reads bytes


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    # A log may be of any bytes; an archive is packed, or says so where tar does.
    return (head[:2] == _GZIP or head[257:262] == b"ustar" or head[:3] == b"BZh") and tarfile.is_tarfile(path)


def _look_into(folder: Path, named: Path) -> Input:
    """Look for a run's record in a folder, else for logs."""
    run = _find_run(folder)
    if run is not None:
        return _read_run(run, named)
    logs = _find_logs(folder)
    if not logs:
        raise InputError(_NOTHING.fill(path=named))
    found = tuple(Log(log.relative_to(folder).as_posix(), log) for log in logs)
    return Input(str(named), found, _read_state(found[-1]))


def _find_run(folder: Path) -> RunFolder | None:
    """Find a run folder: this one, or the only one below it, as in an archive."""
    below = [folder, *(entry for entry in sorted(folder.iterdir()) if entry.is_dir())]
    found = [RunFolder(path) for path in below if RunFolder(path).run.is_file() and (path / "attempts").is_dir()]
    return found[0] if found and (found[0].path == folder or len(found) == 1) else None


def _read_run(run: RunFolder, named: Path) -> Input:
    command = read_object(run.run).get("command")
    name, begin = run.output.relative_to(run.path).as_posix(), _find_begin(run)
    logs = (Log(name, run.output, begin),) if run.output.is_file() else ()
    words = [str(word) for word in command] if isinstance(command, list) else []
    return Input(str(named), logs, tell_run(run), shlex.join(words), run)


def _find_begin(run: RunFolder) -> int:
    """Find where the output of the last attempt begins, in bytes; 0 where an earlier one left no ending."""
    endings = [read_attempt_ending(attempt) for attempt in run.attempts()[:-1]]
    return sum(end.output_bytes - end.log_bytes_dropped for end in endings if end is not None) if all(endings) else 0


def _find_logs(folder: Path) -> list[Path]:
    """Find the logs of a folder, the oldest first. Of the states that a trainer saved, the newest alone counts."""
    found = [path for path in _walk(folder) if _is_log(path.name)]
    states = sorted((path for path in found if path.name == "trainer_state.json"), key=_changed_at)
    logs = [path for path in found if path.name != "trainer_state.json"]
    return sorted([*logs, *states[-1:]], key=_changed_at)[-_MOST_FILES:]


def _read_state(log: Log) -> Mapping[str, Evidence | None]:
    """Tell whether the state that a trainer saved last is that of its last step."""
    values = read_object(log.path) if log.path.name == "trainer_state.json" else {}
    step, most = values.get("global_step"), values.get("max_steps")
    if not isinstance(step, int) or not isinstance(most, int) or not 0 < most <= step:
        return {}
    return {REACHED: Evidence(log.name, None, f'"global_step": {step}')}


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(folders) if depth < _DEEPEST else []
        yield from (Path(place, name) for name in sorted(files))


def _is_log(name: str) -> bool:
    return name in _NAMES or name.endswith(_ENDS) or name.removesuffix(".gz").endswith(".log")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack what tells of a run: never outside the folder, no link, no more than so many bytes."""
    left = _MOST_ARCHIVED_BYTES
    with tarfile.open(archive, "r:*") as packed:
        for member in packed:
            place = PurePosixPath(member.name)
            if not member.isfile() or not _tells_of_a_run(place) or ".." in place.parts or member.size > left:
                continue
            target = folder.joinpath(*(part for part in place.parts if part not in ("/", ".")))
            source = packed.extractfile(member)
            if source is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                with source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
                os.utime(target, (member.mtime, member.mtime))
                left -= member.size


def _tells_of_a_run(place: PurePosixPath) -> bool:
    return _is_log(place.name) or place.name in _RUN_NAMES or "beats" in place.parts or "events" in place.parts
