"""How does a command get to its last step?

attempt → judge → report.
Later: attempt → finished? → diagnose → choose a remedy → apply → again, around the same attempt.
"""

from laststep.host.clock import Clock
from laststep.journal.layout import RunFolder, new_run_id
from laststep.journal.writer import Journal, OpenedFolder, open_run_folder
from laststep.launch.find_program import find_program
from laststep.planning.name_run import model_name
from laststep.records.event import OwnEventKind
from laststep.records.report import LastReport
from laststep.records.request import RunRequest
from laststep.records.text import Text
from laststep.supervisor.attempt import Attempt, run_attempt
from laststep.supervisor.build_report import build_report
from laststep.supervisor.console import Console
from laststep.supervisor.describe_run import describe_run
from laststep.supervisor.judge_attempt import judge_attempt
from laststep.supervisor.report_values import list_report_values
from laststep.supervisor.same_output import warn_of_same_output

_BEGUN = Text(
    en="run {run_id} · see it again: laststep attach {run_id} · end it: laststep stop {run_id}",
    zh="运行 {run_id} · 重新查看：laststep attach {run_id} · 结束：laststep stop {run_id}",
)
_BEGUN_WITHOUT_FOLDER = Text(
    en="run {run_id} · no run folder could be written ({problem}): the run goes on, watched without a journal"
    " or a copy of its output",
    zh="运行 {run_id} · 无法写入运行目录（{problem}）：运行继续，但没有日志和输出副本",
)


def supervise(request: RunRequest, *, console: Console, clock: Clock) -> LastReport:
    """Run a command to its end. Raises CommandError when it cannot be started, Left when the user leaves it running."""
    program = find_program(request.command.argv[0], request.environment, request.start_folder)
    opened = open_run_folder(request.home, model=model_name(request.command), started_at=clock.now())
    run_id = opened.folder.run_id if opened.folder is not None else new_run_id()
    journal = Journal(opened.folder)
    journal.write_run(describe_run(request, run_id=run_id, started_at=clock.now()))
    warn_of_same_output(request, opened.folder, console)
    for note in request.command.notes:
        console.say(note)
    _say_begun(console, opened, run_id)

    journal.add_event(OwnEventKind.ATTEMPT_STARTED, clock.now(), attempt=1)
    attempt = Attempt(request=request, program=program, folder=opened.folder, run_id=run_id, number=1)
    facts = run_attempt(attempt, console=console, clock=clock)
    judgement = judge_attempt(facts)
    ended = {"outcome": judgement.outcome.value, "exit_code": judgement.exit_code}
    journal.add_event(OwnEventKind.ATTEMPT_ENDED, clock.now(), attempt=1, **ended)
    report = build_report(judgement, facts, argv=request.command.argv, folder=opened.folder, run_id=run_id, attempts=1)
    _keep(journal, opened.folder, report)
    return report


def _keep(journal: Journal, folder: RunFolder | None, report: LastReport) -> None:
    if folder is not None and not folder.is_temporary:
        journal.write_report(list_report_values(report))


def _say_begun(console: Console, opened: OpenedFolder, run_id: str) -> None:
    if opened.problem is None:
        console.say(_BEGUN.fill(run_id=run_id))
    else:
        console.say(_BEGUN_WITHOUT_FOLDER.fill(run_id=run_id, problem=opened.problem))
