"""What happens in one launch of the command?"""

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laststep.host.clock import Clock
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_events
from laststep.journal.writer import make_attempt_folder
from laststep.launch.connect import HolderLine
from laststep.launch.inject import inject_guard
from laststep.launch.orders import Orders
from laststep.launch.start import Holder
from laststep.launch.stop import end_orphans
from laststep.launch.streams import Streams, list_ignored_signals, look_at_streams
from laststep.launch.subreaper import become_subreaper
from laststep.planning.write_command import write_resume
from laststep.records.command import Command
from laststep.records.ending import Ending, read_ending
from laststep.records.errors import CommandError
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import ExitCode
from laststep.records.request import RunRequest
from laststep.records.resume import ResumePoint
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.follow import follow
from laststep.supervisor.resume_states import hand_on_states
from laststep.supervisor.seal_saves import seal_saves
from laststep.telemetry.read_beats import read_beats
from laststep_guard.settings import Settings

_NO_INTERPRETER = Text(
    en="{name} cannot be executed: {problem}."
    " The file is there, but the interpreter in its first line is not. Correct that line.",
    zh="{name} 无法执行：{problem}。文件存在，但其首行指定的解释器不存在。请更正该行。",
)
_NO_PROGRAM = Text(
    en="{name} cannot be executed: {problem}."
    " A script needs a first line such as #!/bin/bash; a program must be built for this machine.",
    zh="{name} 无法执行：{problem}。脚本首行需类似 #!/bin/bash；程序须与本机架构匹配。",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One launch: what to launch, and where it writes."""

    request: RunRequest
    program: str
    folder: RunFolder | None
    run_id: str
    number: int
    point: ResumePoint | None = None  # where it goes on; None: at step 0


def run_attempt(attempt: Attempt, *, console: Console, clock: Clock) -> AttemptFacts:
    """Launch the command, show it to its end, and gather the facts. Raises Left when the user leaves it running."""
    become_subreaper()  # should the holder be killed, its orphans come to us, and we can end them
    streams = look_at_streams()
    place = make_attempt_folder(attempt.folder, attempt.number) if attempt.folder is not None else None
    if attempt.folder is not None and place is not None and attempt.point is not None:
        hand_on_states(attempt.folder, place, attempt.point)
    holder = Holder(_give_orders(attempt, streams, place), log_path=place.holder_log if place is not None else None)
    with seal_saves(attempt.folder, place, console=console, clock=clock):
        last_word = follow(HolderLine(holder.connection), streams=streams, console=console, begin=holder.start)
    if last_word is None:
        end_orphans(clock)
    facts = gather_facts(_read_last_word(last_word, attempt), attempt.folder, place)
    holder.let_go()
    return facts


def gather_facts(ending: Ending | None, folder: RunFolder | None, place: AttemptFolder | None) -> AttemptFacts:
    """Collect what the run folder and the holder know about an attempt."""
    if folder is None or place is None:
        return AttemptFacts(ending=ending, beats=(), events=())
    return AttemptFacts(ending=ending, beats=read_beats(place.beats), events=tuple(read_events(folder, place)))


def _give_orders(attempt: Attempt, streams: Streams, place: AttemptFolder | None) -> Orders:
    request = attempt.request
    command = _write_command(attempt)
    is_kept = attempt.folder is not None and not attempt.folder.is_temporary
    settings = Settings(
        run_id=attempt.run_id,
        beats_dir=_text(place.beats if place is not None else None),
        events_dir=_text(place.events if place is not None else None),
        states_dir=_text(place.states if place is not None else None),
        fingerprints_dir=_text(place.fingerprints if place is not None else None),
        requests_dir=_text(place.requests if place is not None else None),
        resume_states_dir=_text(place.resume_states if place is not None else None),
        resume_from=attempt.point.path if attempt.point is not None and command is request.command else None,
        guards_off=request.guards_off,
        fixes_off=request.fixes_off,
        allow=request.allow,
    )
    return Orders(
        run_id=attempt.run_id,
        program=attempt.program,
        argv=command.argv,
        environment=inject_guard(request.environment, settings),
        cwd=str(request.start_folder),
        ignored_signals=list_ignored_signals(),
        terminal_fds=streams.terminal_fds,
        shares_output=streams.shares_output,
        rows=streams.rows,
        columns=streams.columns,
        grace_seconds=request.grace_seconds,
        log_path=str(attempt.folder.output) if attempt.folder is not None and is_kept else None,
        copy_path=_find_copy(request),
        copy_appends=request.command.output_appends,
        socket_path=_text(place.socket if place is not None else None),
        beats_dir=settings.beats_dir,
        events_dir=settings.events_dir,
        requests_dir=settings.requests_dir,
        ending_path=_text(place.ending if place is not None else None),
        holder_path=_text(place.holder if place is not None else None),
        temporary_folder=str(attempt.folder.path) if attempt.folder is not None and not is_kept else None,
    )


def _write_command(attempt: Attempt) -> Command:
    command = attempt.request.command
    return command if attempt.point is None else write_resume(command, attempt.point.path)


def _read_last_word(last_word: dict[str, Any] | None, attempt: Attempt) -> Ending | None:
    if last_word is None:
        return None
    number = last_word.get("errno")
    if number is not None:
        raise _explain_refusal(attempt.request.command.argv[0], int(number))
    return read_ending(last_word)


def _explain_refusal(name: str, number: int) -> CommandError:
    problem = os.strerror(number)
    if number == errno.ENOENT:
        return CommandError(_NO_INTERPRETER.fill(name=name, problem=problem), exit_code=ExitCode.NOT_FOUND)
    return CommandError(_NO_PROGRAM.fill(name=name, problem=problem), exit_code=ExitCode.NOT_EXECUTABLE)


def _find_copy(request: RunRequest) -> str | None:
    """Find the file that the text of the command redirects its output to."""
    name = request.command.output_file
    return str(request.start_folder / name) if name is not None else None


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None
