"""How is a run seen through that somebody else started?"""

from dataclasses import dataclass

from laststep.host.clock import Clock
from laststep.host.lock import is_locked
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_attempt_ending, read_object
from laststep.journal.writer import Journal
from laststep.launch.connect import HolderLine, connect
from laststep.launch.streams import look_at_streams
from laststep.records.ending import Ending, read_ending
from laststep.records.errors import LaststepError
from laststep.records.event import OwnEventKind
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import Judgement
from laststep.records.remedy import NoRemedy, PastAttempt
from laststep.records.report import LastReport
from laststep.records.request import RunRequest
from laststep.records.text import Text
from laststep.recovery.choose_remedy import choose_remedy
from laststep.supervisor.attempt import gather_facts
from laststep.supervisor.build_report import build_report, count_attempt_steps
from laststep.supervisor.console import Console
from laststep.supervisor.follow import follow
from laststep.supervisor.judge_attempt import judge_attempt
from laststep.supervisor.list_runs import is_held
from laststep.supervisor.report_values import list_report_values
from laststep.supervisor.resume_point import list_own_checkpoints
from laststep.supervisor.resume_request import read_living_request
from laststep.supervisor.seal_saves import seal_saves
from laststep.supervisor.supervise import supervise

_LOOK_SECONDS = 0.2
_ATTACHED = Text(
    en="attached to run {run_id} · Ctrl-C stops it, Ctrl-\\ leaves it running",
    zh="已连接运行 {run_id} · Ctrl-C 停止运行，Ctrl-\\ 离开并保持运行",
)

_UNREACHABLE = Text(
    en="Run {run_id} goes on, held by process {pid}, but cannot be reached from here."
    " Its output is in {output}; to end it: kill {pid}",
    zh="运行 {run_id} 仍在继续，由进程 {pid} 持有，但从这里无法连接。其输出在 {output}；结束运行：kill {pid}",
)


def attach(folder: RunFolder, *, console: Console, clock: Clock) -> LastReport:
    """Show a run to its end; for one that has ended, give the report right away. Raises Left."""
    attempts = folder.attempts()
    place = attempts[-1] if attempts else None
    followed = _follow(folder, place, console=console, clock=clock) if place is not None else _Followed()
    ending = followed.ending
    if ending is None and place is not None:
        ending = read_attempt_ending(place)
    facts = gather_facts(ending, folder, place)
    judgement = judge_attempt(facts)
    if followed.request is not None and _has_more_to_try(judgement, facts, folder):
        return _go_on(folder, followed.request, len(attempts), console=console, clock=clock)
    argv = tuple(read_object(folder.run).get("command", ()))
    report = build_report(judgement, facts, argv=argv, folder=folder, run_id=folder.run_id, attempts=len(attempts))
    Journal(folder).write_report(list_report_values(report))
    return report


@dataclass(frozen=True, slots=True)
class _Followed:
    """An attempt that was shown to its end: how it ended, and the request that would go on with it."""

    ending: Ending | None = None
    request: RunRequest | None = None


def _follow(folder: RunFolder, place: AttemptFolder, *, console: Console, clock: Clock) -> _Followed:
    holder = read_object(place.holder)
    connection = connect(str(holder["socket"])) if holder.get("socket") else None
    if connection is None:
        if is_held(place):
            raise LaststepError(_UNREACHABLE.fill(run_id=folder.run_id, pid=holder["pid"], output=folder.output))
        return _Followed()
    Journal(folder).add_event(OwnEventKind.SUPERVISOR_ATTACHED, clock.now())
    request = read_living_request(folder, int(holder.get("command_pid") or 0))
    with seal_saves(folder, place, console=console, clock=clock):
        last_word = follow(
            HolderLine(connection),
            streams=look_at_streams(),
            console=console,
            begin=lambda: console.say(_ATTACHED.fill(run_id=folder.run_id)),
        )
    connection.close()
    return _Followed(read_ending(last_word) if last_word is not None and "command" in last_word else None, request)


def _has_more_to_try(judgement: Judgement, facts: AttemptFacts, folder: RunFolder) -> bool:
    """Tell whether an attempt that was shown is to be followed by another; which checkpoint is sound comes later."""
    past = PastAttempt(judgement=judgement, last_step=count_attempt_steps(facts)[0])
    remedy = choose_remedy([past], None)
    return remedy is not NoRemedy.NOTHING_FAILED and bool(list_own_checkpoints(folder))


def _go_on(folder: RunFolder, request: RunRequest, attempts: int, *, console: Console, clock: Clock) -> LastReport:
    """Start the next attempt, or show the one that whoever supervises the run starts: there is only one of them."""
    while is_locked(folder.supervised):
        if len(folder.attempts()) > attempts and is_held(folder.attempts()[-1]):
            return attach(folder, console=console, clock=clock)
        clock.sleep(_LOOK_SECONDS)
    if len(folder.attempts()) > attempts or _is_reported(folder):
        return attach(folder, console=console, clock=clock)  # it has ended meanwhile, or was given up
    return supervise(request, console=console, clock=clock)


def _is_reported(folder: RunFolder) -> bool:
    """Tell whether the last attempt has been reported on, and not only one before it."""
    try:
        return folder.report.stat().st_mtime_ns >= folder.attempts()[-1].ending.stat().st_mtime_ns
    except OSError:
        return False
