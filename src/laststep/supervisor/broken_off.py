"""Was this command broken off before?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laststep.host.clock import Clock
from laststep.host.processes import is_alive, read_started_at
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events, read_object
from laststep.journal.redact import redact_argv
from laststep.planning.write_command import list_differences
from laststep.records.errors import LaststepError
from laststep.records.outcome import Outcome
from laststep.records.request import RunRequest
from laststep.records.text import Text, join_texts
from laststep.supervisor.describe_run import find_output_dir
from laststep.supervisor.list_runs import list_runs
from laststep.supervisor.sample_inputs import sample_inputs
from laststep.telemetry.read_beats import read_beats
from laststep_guard import wire

_DONE = (Outcome.FINISHED.value, Outcome.STOPPED_EARLY.value, Outcome.COMMAND_ENDED.value)
_ENDING_SECONDS = 10.0  # the kernel takes its time with a process that holds much memory
_LOOK_SECONDS = 0.1
_CLOCK_SECONDS = 2.0  # a process's start is known to about a second
_ALIVE = Text(
    en="Rank {rank} of run {run_id} still lives (process {pid}) though nobody holds that run any more. Two trainings in"
    " one folder would overwrite each other's checkpoints. End it: kill {pid}",
    zh="运行 {run_id} 的 rank {rank} 仍存活（进程 {pid}），但已无人持有该运行。两个训练会互相覆盖检查点。"
    "请先结束：kill {pid}",
)
_CHANGED = Text(en="{before} → {now}", zh="{before} → {now}")
_NOTHING = Text(en="(absent)", zh="（无）")
_DATA_CHANGED = Text(en="the content of {path} is another one", zh="{path} 的内容已改变")


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """An earlier run of the same output folder that did not finish, and how its command or data differs from this."""

    folder: RunFolder
    differences: tuple[Text, ...]


def find_broken_off(request: RunRequest, clock: Clock) -> BrokenOff | None:
    """Find the training that this command would take up again. Raises LaststepError while ranks of it still live."""
    for run in list_runs(request.home):
        described = read_object(run.folder.run)
        if not _is_same_place(described, request):
            continue
        if run.state == "running" or run.state in _DONE:
            return None
        refuse_living(run.folder, clock)
        if not _has_trained(run.folder):
            return None
        return BrokenOff(run.folder, _list_differences(described, request))
    return None


def _has_trained(folder: RunFolder) -> bool:
    return any(event.kind == wire.EventKind.TRAIN_BEGAN for event in read_events(folder))


def _is_same_place(described: Mapping[str, Any], request: RunRequest) -> bool:
    output_dir = find_output_dir(request)
    if output_dir is not None:
        return described.get("output_dir") == str(output_dir)
    is_same_start = described.get("start_folder", described.get("cwd")) == str(request.start_folder)
    return is_same_start and described.get("command") == list(redact_argv(request.command.argv))


def _list_differences(described: Mapping[str, Any], request: RunRequest) -> tuple[Text, ...]:
    pairs = list_differences(described.get("command", ()), redact_argv(request.command.argv))
    changed = [_CHANGED.fill(before=before or _NOTHING, now=now or _NOTHING) for before, now in pairs]
    before = described.get("inputs") or {}
    now = sample_inputs(request.command.argv, request.start_folder)
    changed += [_DATA_CHANGED.fill(path=path) for path in before if path in now and now[path] != before[path]]
    return tuple(changed)


def tell_differences(differences: Sequence[Text]) -> Text:
    """Put differences into one line."""
    return join_texts(differences, between="; ")


def refuse_living(folder: RunFolder, clock: Clock) -> None:
    """Raise LaststepError while ranks of a run live that nobody holds any more. One that was just killed may end."""
    deadline = clock.monotonic() + _ENDING_SECONDS
    while (beat := _find_living(folder)) is not None:
        if clock.monotonic() >= deadline:
            raise LaststepError(_ALIVE.fill(rank=beat.rank, run_id=folder.run_id, pid=beat.pid))
        clock.sleep(_LOOK_SECONDS)


def _find_living(folder: RunFolder) -> wire.Beat | None:
    beats = [beat for attempt in folder.attempts()[-1:] for beat in read_beats(attempt.beats)]
    living = (beat for beat in beats if is_alive(beat.pid) and _is_as_old(beat.pid, beat.started_at))
    return next(living, None)


def _is_as_old(pid: int, started_at: float) -> bool:
    """Tell whether a process existed when the beat began; a pid is given anew some day."""
    began = read_started_at(pid)
    return began is not None and began <= started_at + _CLOCK_SECONDS
