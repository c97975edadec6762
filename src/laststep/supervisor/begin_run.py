"""Is this a new run, or does one go on that was broken off?"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from laststep.host.clock import Clock
from laststep.host.lock import Lock, take_lock
from laststep.journal.layout import RunFolder, new_run_id
from laststep.journal.writer import Journal, open_run_folder
from laststep.planning.name_run import model_name
from laststep.records.errors import LaststepError
from laststep.records.request import RunRequest
from laststep.records.resume import ResumePoint, SkippedCheckpoint
from laststep.records.text import Text, join_texts
from laststep.supervisor.broken_off import BrokenOff, find_broken_off, refuse_living, tell_differences
from laststep.supervisor.console import Console
from laststep.supervisor.describe_run import describe_run
from laststep.supervisor.resume_point import list_skipped, look_for_point, read_point

_BEGUN = Text(
    en="run {run_id} · see it again: laststep attach {run_id} · end it: laststep stop {run_id}",
    zh="运行 {run_id} · 重新查看：laststep attach {run_id} · 结束：laststep stop {run_id}",
)
_BEGUN_WITHOUT_FOLDER = Text(
    en="run {run_id} · no run folder could be written ({problem}): the run goes on, watched without a journal"
    " or a copy of its output",
    zh="运行 {run_id} · 无法写入运行目录（{problem}）：运行继续，但没有日志和输出副本",
)
_RESUMED = Text(
    en="run {run_id} was broken off: it goes on from step {step}, {path} · start over: --fresh",
    zh="运行 {run_id} 曾中断：从第 {step} 步继续，{path} · 重新开始：--fresh",
)
_CHANGED = Text(
    en="run {run_id} was broken off in this output folder, but is not taken up by itself, since this is another"
    " training: {differences}. It begins at step 0. To go on anyway: laststep resume {run_id}",
    zh="运行 {run_id} 曾在此输出目录中断，但训练已改变，不会自动继续：{differences}。将从第 0 步开始。"
    "如仍要继续：laststep resume {run_id}",
)
_SUPERVISED = Text(
    en="Run {run_id} is being supervised by another laststep, which goes on with it."
    " To see it: laststep attach {run_id}",
    zh="运行 {run_id} 正由另一个 laststep 监管，并会继续。查看：laststep attach {run_id}",
)
_NEVER_SAVED = Text(
    en="run {run_id} was broken off before a save was complete: it begins at step 0",
    zh="运行 {run_id} 在首次保存完成前中断：从第 0 步开始",
)
_NONE_SOUND = Text(
    en="None of the checkpoints of run {run_id} is sound, so there is nothing to go on from:\n{skipped}\n"
    "Start over with --fresh; nothing is removed.",
    zh="运行 {run_id} 的检查点均不可靠，无法继续：\n{skipped}\n使用 --fresh 重新开始；不会删除任何文件。",
)
_START_OVER = Text(en="Start over at step 0?", zh="从第 0 步重新开始？")
_SKIPPED = Text(
    en="skipped {path}: {reasons}",
    zh="跳过 {path}：{reasons}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """A run that is about to make an attempt."""

    folder: RunFolder | None
    run_id: str
    journal: Journal
    lock: Lock | None = None  # held as long as this run is supervised
    first_attempt: int = 1
    point: ResumePoint | None = None  # None: it begins at step 0


def begin_run(request: RunRequest, *, console: Console, clock: Clock) -> OpenRun:
    """Take up the run that this command was broken off in, or open a new one."""
    broken_off = _find_broken_off(request, clock)
    run = _take_up(broken_off, console) if broken_off is not None else None
    return run or _open_new(request, console=console, clock=clock)


def _find_broken_off(request: RunRequest, clock: Clock) -> BrokenOff | None:
    if request.takes_up is not None:
        refuse_living(RunFolder(request.takes_up), clock)
        return BrokenOff(RunFolder(request.takes_up), differences=())  # by name: whatever has changed since
    return None if request.is_fresh else find_broken_off(request, clock)


def _take_up(broken_off: BrokenOff, console: Console) -> OpenRun | None:
    """Take up a run; None when a new one has to begin. Raises LaststepError when that is the user's to decide."""
    folder, run_id = broken_off.folder, broken_off.folder.run_id
    if broken_off.differences:
        console.say(_CHANGED.fill(run_id=run_id, differences=tell_differences(broken_off.differences)))
        return None
    lock = take_lock(folder.supervised)
    if lock is None:
        raise LaststepError(_SUPERVISED.fill(run_id=run_id))
    choice = look_for_point(folder)
    point = read_point(choice)
    if point is None:
        lock.let_go()
        _accept_beginning(run_id, list_skipped(choice), console)
        return None
    console.say(_RESUMED.fill(run_id=run_id, step=point.step, path=point.path))
    say_skipped(point.skipped, console)
    number = len(folder.attempts()) + 1
    return OpenRun(folder=folder, run_id=run_id, journal=Journal(folder), lock=lock, first_attempt=number, point=point)


def say_skipped(skipped: tuple[SkippedCheckpoint, ...], console: Console) -> None:
    """Say which checkpoints were passed over, and why."""
    for each in skipped:
        console.say(_word(each))


def _accept_beginning(run_id: str, skipped: Sequence[SkippedCheckpoint], console: Console) -> None:
    if not skipped:
        console.say(_NEVER_SAVED.fill(run_id=run_id))
        return
    words = _NONE_SOUND.fill(run_id=run_id, skipped=join_texts(_word(each) for each in skipped))
    if not sys.stdin.isatty():
        raise LaststepError(words)
    console.say(words)
    if not console.ask(_START_OVER):
        raise LaststepError(words)


def _word(skipped: SkippedCheckpoint) -> Text:
    return _SKIPPED.fill(path=skipped.path, reasons=join_texts(skipped.reasons, between="; "))


def _open_new(request: RunRequest, *, console: Console, clock: Clock) -> OpenRun:
    opened = open_run_folder(request.home, model=model_name(request.command), started_at=clock.now())
    run_id = opened.folder.run_id if opened.folder is not None else new_run_id()
    journal = Journal(opened.folder)
    journal.write_run(describe_run(request, run_id=run_id, started_at=clock.now()))
    if opened.problem is None:
        console.say(_BEGUN.fill(run_id=run_id))
    else:
        console.say(_BEGUN_WITHOUT_FOLDER.fill(run_id=run_id, problem=opened.problem))
    lock = take_lock(opened.folder.supervised) if opened.folder is not None else None
    return OpenRun(folder=opened.folder, run_id=run_id, journal=journal, lock=lock)
