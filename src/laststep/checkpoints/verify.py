"""Can a run be resumed from this checkpoint?

The one function that answers it for the commands, the resume and the dashboard. Nothing is ever unpickled.
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from laststep.checkpoints import problems
from laststep.checkpoints.compare import compare_hashes, compare_sizes
from laststep.checkpoints.contents import Contents, ReadCheckpoint, list_contents, unreadable
from laststep.checkpoints.find import is_checkpoint, look_into, read_step
from laststep.checkpoints.kinds.catalog import KINDS
from laststep.checkpoints.kinds.run_facts import RunFacts, read_run_facts
from laststep.checkpoints.read_files import find_leftovers, read_files
from laststep.checkpoints.sealed_files import Manifest, ManifestError, read_manifest
from laststep.host.clock import Clock, SystemClock
from laststep.records.checkpoint import CheckedCheckpoint, Problem, ProblemKind, Soundness
from laststep.records.errors import CheckpointError
from laststep.records.text import Text
from laststep_guard.wire import MANIFEST_NAME

RECENT_SECONDS = 30.0  # a save that writes nothing for longer has ended
# What a save that goes on would still mend.
_UNFINISHED = {ProblemKind.MISSING, ProblemKind.TORN, ProblemKind.ZERO_FILLED, ProblemKind.STALE_POINTER}
_NO_CHECKPOINT = Text(
    en="{path} is no checkpoint: it has none of the files of one. Name an output folder or a checkpoint-N in it.",
    zh="{path} 不是检查点：其中没有检查点应有的文件。请指定输出目录或其中的 checkpoint-N。",
)
_BAD_MANIFEST = Text(en="the manifest itself is damaged", zh="清单文件本身已损坏")
_REPORTED = Text(en="it was written in this save", zh="本次保存写入过它")
_EMPTY = Text(en="the folder holds no file", zh="目录中没有文件")


@dataclass(slots=True)
class _Meter:
    """Counts bytes for whoever wants to see progress."""

    progress: Callable[[int, int], None] | None
    total: int
    done: int = 0

    def tick(self, count: int) -> None:
        self.done = min(self.total, self.done + count)
        if self.progress is not None:
            self.progress(self.done, self.total)


class Hashes(enum.Enum):
    """What is done with the hashes of a manifest?"""

    COMPARED = enum.auto()
    IGNORED = enum.auto()  # the checkpoint is judged by its structure alone
    TRUSTED = enum.auto()  # the manifest was written this moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How closely a checkpoint is looked at."""

    is_deep: bool = False
    hashes: Hashes = Hashes.COMPARED
    reported: Mapping[str, int] = field(default_factory=dict)  # names and sizes that are known to have been written


def verify_checkpoint(
    path: Path,
    *,
    is_deep: bool = False,
    ignores_hashes: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CheckedCheckpoint:
    """Look at every file of a checkpoint; `ignores_hashes` judges by its structure alone."""
    hashes = Hashes.IGNORED if ignores_hashes else Hashes.COMPARED
    return look_at_checkpoint(path, Manner(is_deep=is_deep, hashes=hashes), progress=progress)


def look_at_checkpoint(
    path: Path,
    manner: Manner,
    *,
    progress: Callable[[int, int], None] | None = None,
    clock: Clock | None = None,
) -> CheckedCheckpoint:
    """Look at every file of a checkpoint in one manner or another."""
    try:
        look_into(path)
    except CheckpointError as error:
        # Among others it is one that could not be told; by itself and under another name, an error to act upon.
        if error.__cause__ is None or read_step(path) is None:
            raise
        return _leave_open(path, error)
    if not is_checkpoint(path):
        raise CheckpointError(_NO_CHECKPOINT.fill(path=path))
    contents = list_contents(path)
    meter = _Meter(progress, sum(contents.files.values()) * (2 if manner.is_deep else 1))
    manifest, found = _open_manifest(path, is_wanted=manner.hashes is not Hashes.IGNORED)
    found += [*contents.problems, *_compare_reported(contents, manner.reported)]
    same: set[str] = set()
    if manifest is not None:
        found += compare_sizes(contents, manifest)
        if manner.hashes is Hashes.TRUSTED:
            same = set(manifest.files)
        else:
            same, changed = compare_hashes(contents, manifest, meter.tick)
            found += changed
    is_sealed = manifest is not None and not found
    read = _read(contents, same, is_deep=manner.is_deep, tick=meter.tick)
    found += _judge(read, manifest)
    return _conclude(read, found, manifest, is_sealed=is_sealed, now=(clock or SystemClock()).now())


def _leave_open(path: Path, error: CheckpointError) -> CheckedCheckpoint:
    problem = Problem(kind=ProblemKind.UNREADABLE, file=None, words=error.text)
    return CheckedCheckpoint(
        path=str(path), step=read_step(path), soundness=Soundness.UNKNOWN, is_sealed=False, problems=(problem,)
    )


def _open_manifest(path: Path, *, is_wanted: bool) -> tuple[Manifest | None, list[Problem]]:
    if not is_wanted:
        return None, []
    try:
        return read_manifest(path), []
    except ManifestError:
        return None, [problems.torn(MANIFEST_NAME, _BAD_MANIFEST)]
    except OSError as error:
        return None, [unreadable(MANIFEST_NAME, error)]


def _compare_reported(contents: Contents, reported: Mapping[str, int]) -> Iterator[Problem]:
    for name, size in reported.items():
        found = contents.files.get(name)
        if found is None:
            yield problems.missing(name, _REPORTED)
        elif found != size:
            yield problems.report(ProblemKind.CHANGED, name, problems.CHANGED_SIZE, found=found, expected=size)


def _read(contents: Contents, same: set[str], *, is_deep: bool, tick: Callable[[int], None]) -> ReadCheckpoint:
    readings = read_files(contents, same, is_deep=is_deep, tick=tick)
    read = ReadCheckpoint(
        contents=contents, readings=readings, step=read_step(contents.root), is_deep=is_deep, same=same, tick=tick
    )
    if read.step is not None:
        return read
    state = read.mapping("trainer_state.json").get("global_step")
    step = state if type(state) is int else None
    return replace(read, step=step)


def _judge(read: ReadCheckpoint, manifest: Manifest | None) -> Iterator[Problem]:
    yield from find_leftovers(read.contents)
    for reading in read.readings.values():
        yield from reading.problems
    if not read.contents.files and not read.contents.problems:
        yield problems.missing(None, _EMPTY)
        return
    if any(problem.kind is ProblemKind.UNREADABLE and problem.file is None for problem in read.contents.problems):
        return
    for judge in KINDS:
        yield from judge(read)
    if manifest is not None and None not in (manifest.step, read.step) and manifest.step != read.step:
        yield problems.report(
            ProblemKind.WRONG_STEP, MANIFEST_NAME, problems.WRONG_STEP, found=manifest.step, step=read.step
        )


def _conclude(
    read: ReadCheckpoint, found: list[Problem], manifest: Manifest | None, *, is_sealed: bool, now: float
) -> CheckedCheckpoint:
    contents, facts = read.contents, read_run_facts(read)
    found = list(dict.fromkeys(found))
    age = now - contents.changed_at
    is_recent = bool(contents.files) and 0 <= age < RECENT_SECONDS
    soundness = Soundness.UNSOUND if found else Soundness.SOUND
    if found and all(problem.kind is ProblemKind.UNREADABLE for problem in found):
        soundness = Soundness.UNKNOWN
    elif found and is_recent and manifest is None and all(problem.kind in _UNFINISHED for problem in found):
        found.append(problems.report(ProblemKind.BEING_WRITTEN, None, problems.BEING_WRITTEN, seconds=age))
        soundness = Soundness.UNKNOWN
    return CheckedCheckpoint(
        path=str(contents.root),
        step=read.step,
        soundness=soundness,
        is_sealed=is_sealed and soundness is Soundness.SOUND,
        problems=tuple(found),
        run_id=manifest.run_id if manifest else None,
        world_size=_world_size(manifest, facts),
        tuner=(manifest and manifest.tuner) or facts.tuner,
        base_model=(manifest and manifest.base_model) or facts.base_model,
        size_bytes=sum(contents.files.values()),
        saved_at=contents.changed_at or None,
    )


def _world_size(manifest: Manifest | None, facts: RunFacts) -> int | None:
    if manifest is not None and manifest.world_size is not None:
        return manifest.world_size
    if facts.is_one_process:
        return 1
    return facts.world_size or len(facts.random_ranks) or None
