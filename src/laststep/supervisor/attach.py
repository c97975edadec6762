"""How is a run seen through that somebody else started?"""

from laststep.host.clock import Clock
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_attempt_ending, read_object
from laststep.journal.writer import Journal
from laststep.launch.connect import HolderLine, connect
from laststep.launch.streams import look_at_streams
from laststep.records.ending import read_ending
from laststep.records.errors import LaststepError
from laststep.records.event import OwnEventKind
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import Judgement
from laststep.records.remedy import NoRemedy, PastAttempt
from laststep.records.report import LastReport
from laststep.records.text import Text
from laststep.recovery.choose_remedy import choose_remedy
from laststep.supervisor.attempt import gather_facts
from laststep.supervisor.build_report import build_report, count_attempt_steps
from laststep.supervisor.console import Console
from laststep.supervisor.follow import follow
from laststep.supervisor.judge_attempt import judge_attempt
from laststep.supervisor.list_runs import is_held
from laststep.supervisor.report_values import list_report_values
from laststep.supervisor.resume_point import find_resume_point
from laststep.supervisor.resume_request import read_living_request
from laststep.supervisor.seal_saves import seal_saves
from laststep.supervisor.supervise import supervise

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
    holder = read_object(place.holder) if place is not None else {}
    connection = connect(str(holder["socket"])) if holder.get("socket") else None
    ending = request = None
    if connection is None and place is not None and is_held(place):
        raise LaststepError(_UNREACHABLE.fill(run_id=folder.run_id, pid=holder["pid"], output=folder.output))
    if connection is not None:
        Journal(folder).add_event(OwnEventKind.SUPERVISOR_ATTACHED, clock.now())
        request = read_living_request(folder, int(holder.get("command_pid") or 0))
        with seal_saves(folder, place, console=console, clock=clock):
            last_word = follow(
                HolderLine(connection),
                streams=look_at_streams(),
                console=console,
                begin=lambda: console.say(_ATTACHED.fill(run_id=folder.run_id)),
            )
        ending = read_ending(last_word) if last_word is not None and "command" in last_word else None
        connection.close()
    if ending is None and place is not None:
        ending = read_attempt_ending(place)
    facts = gather_facts(ending, folder, place)
    judgement = judge_attempt(facts)
    if request is not None and _has_more_to_try(judgement, facts, folder):
        return supervise(request, console=console, clock=clock)
    argv = tuple(read_object(folder.run).get("command", ()))
    report = build_report(judgement, facts, argv=argv, folder=folder, run_id=folder.run_id, attempts=len(attempts))
    Journal(folder).write_report(list_report_values(report))
    return report


def _has_more_to_try(judgement: Judgement, facts: AttemptFacts, folder: RunFolder) -> bool:
    """Tell whether the loop, whose supervisor is gone, would have gone on: from here on, we are the supervisor."""
    past = PastAttempt(judgement=judgement, last_step=count_attempt_steps(facts)[0])
    remedy = choose_remedy([past], None)
    return remedy is not NoRemedy.NOTHING_FAILED and find_resume_point(folder) is not None
