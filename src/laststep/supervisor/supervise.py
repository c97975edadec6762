"""How does a command get to its last step?

attempt → finished? → choose a remedy → apply → again. Later: attempt → finished? → diagnose → choose a remedy from
verdicts → file the incident → apply → again, around the same attempt.
"""

from laststep.host.clock import Clock
from laststep.launch.find_program import find_program
from laststep.records.event import OwnEventKind
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import ExitCode, Judgement, Outcome
from laststep.records.remedy import NoRemedy, PastAttempt, Remedy
from laststep.records.report import LastReport
from laststep.records.request import RunRequest
from laststep.records.resume import ResumePoint
from laststep.records.text import Text
from laststep.recovery.choose_remedy import MOST_WITHOUT_STEP, choose_remedy
from laststep.supervisor.attempt import Attempt, run_attempt
from laststep.supervisor.begin_run import OpenRun, begin_run, say_skipped
from laststep.supervisor.build_report import build_report, count_attempt_steps
from laststep.supervisor.console import Console
from laststep.supervisor.judge_attempt import judge_attempt
from laststep.supervisor.report_values import list_report_values
from laststep.supervisor.resume_point import find_resume_point, list_own_checkpoints
from laststep.supervisor.same_output import warn_of_same_output
from laststep.supervisor.words import name_signal

_LOOKING = Text(en="looking for the newest sound checkpoint", zh="正在查找最新的可靠检查点")
_RESUMED = Text(
    en="attempt {number} {how} at step {last_step}: attempt {next_number} goes on from step {step}, {path}",
    zh="第 {number} 次尝试在第 {last_step} 步{how}：第 {next_number} 次尝试从第 {step} 步继续，{path}",
)
_FAILED = Text(en="failed", zh="失败")
_KILLED = Text(en="was ended by {signal}", zh="被 {signal} 结束")
_GIVEN_UP = Text(
    en="{count} attempts in a row made no new step: the run is given up. Its checkpoints are kept",
    zh="连续 {count} 次尝试没有新的步数：放弃该运行。检查点保留",
)


def supervise(request: RunRequest, *, console: Console, clock: Clock) -> LastReport:
    """Run a command to its end. Raises CommandError when it cannot be started, Left when the user leaves it running."""
    program = find_program(request.command.argv[0], request.environment, request.start_folder)
    run = begin_run(request, console=console, clock=clock)
    warn_of_same_output(request, run.folder, console)
    for note in request.command.notes:
        console.say(note)

    past: list[PastAttempt] = []
    remedy: Remedy | NoRemedy = Remedy(change="resume", remedy_class="identical", point=run.point)
    while isinstance(remedy, Remedy):
        number = run.first_attempt + len(past)
        attempt = Attempt(
            request=request, program=program, folder=run.folder, run_id=run.run_id, number=number, point=remedy.point
        )
        facts = _make_attempt(attempt, run, console=console, clock=clock)
        past.append(PastAttempt(judgement=judge_attempt(facts), last_step=count_attempt_steps(facts)[0]))
        remedy = choose_remedy(past, _find_point(run, past[-1], console))
        _say_next(remedy, past[-1], number, console)
    return _report(request, run, facts, _judge_run(past, remedy), number)


def _make_attempt(attempt: Attempt, run: OpenRun, *, console: Console, clock: Clock) -> AttemptFacts:
    step = attempt.point.step if attempt.point is not None else None
    run.journal.add_event(
        OwnEventKind.ATTEMPT_STARTED, clock.now(), attempt=attempt.number, resumed_from_step=step,
        resumed_from=attempt.point.path if attempt.point is not None else None,
    )  # fmt: skip
    facts = run_attempt(attempt, console=console, clock=clock)
    judgement = judge_attempt(facts)
    ended = {"outcome": judgement.outcome.value, "exit_code": judgement.exit_code}
    run.journal.add_event(OwnEventKind.ATTEMPT_ENDED, clock.now(), attempt=attempt.number, **ended)
    return facts


def _find_point(run: OpenRun, last: PastAttempt, console: Console) -> ResumePoint | None:
    """Look for where the run could go on, where that is a question at all: every byte of a checkpoint is read."""
    is_over = choose_remedy([last], None) is NoRemedy.NOTHING_FAILED
    if is_over or run.folder is None or not list_own_checkpoints(run.folder):
        return None
    console.say(_LOOKING)
    return find_resume_point(run.folder)


def _say_next(remedy: Remedy | NoRemedy, last: PastAttempt, number: int, console: Console) -> None:
    if remedy is NoRemedy.WITHOUT_PROGRESS:
        console.say(_GIVEN_UP.fill(count=MOST_WITHOUT_STEP))
    if not isinstance(remedy, Remedy) or remedy.point is None:
        return
    point, signal = remedy.point, last.judgement.signal
    how = _KILLED.fill(signal=name_signal(signal)) if signal is not None else _FAILED
    values = {"number": number, "next_number": number + 1, "step": point.step, "path": point.path}
    console.say(_RESUMED.fill(how=how, last_step=last.last_step, **values))
    say_skipped(point.skipped, console)


def _judge_run(past: list[PastAttempt], remedy: Remedy | NoRemedy) -> Judgement:
    last = past[-1].judgement
    if remedy is NoRemedy.WITHOUT_PROGRESS and len(past) > 1:
        return Judgement(Outcome.WITHOUT_PROGRESS, ExitCode.WITHOUT_PROGRESS, rank=last.rank, signal=last.signal)
    return last


def _report(request: RunRequest, run: OpenRun, facts: AttemptFacts, judgement: Judgement, attempts: int) -> LastReport:
    report = build_report(
        judgement, facts, argv=request.command.argv, folder=run.folder, run_id=run.run_id, attempts=attempts
    )
    if run.folder is not None and not run.folder.is_temporary:
        run.journal.write_report(list_report_values(report))
    return report
