"""What happens in one launch of the command?"""

import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laststep.host.processes import find_descendants
from laststep.journal.layout import AttemptFolder, RunFolder
from laststep.journal.reader import read_events
from laststep.journal.writer import make_attempt_folder
from laststep.launch.connect import HolderLine
from laststep.launch.inject import inject_guard
from laststep.launch.orders import Orders
from laststep.launch.start import StartedHolder, start_holder
from laststep.launch.stop import end_descendants
from laststep.launch.streams import Streams, list_ignored_signals, look_at_streams
from laststep.launch.subreaper import become_subreaper
from laststep.records.ending import Ending, read_ending
from laststep.records.errors import CommandError
from laststep.records.facts import AttemptFacts
from laststep.records.outcome import ExitCode
from laststep.records.request import RunRequest
from laststep.supervisor.console import Console
from laststep.supervisor.follow import follow
from laststep.telemetry.read_beats import read_beats
from laststep_guard.settings import Settings

_HOLDER_LEAVES_SECONDS = 10.0
_SIGKILL = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One launch: what to launch, and where it writes."""

    request: RunRequest
    program: str
    folder: RunFolder | None
    run_id: str
    number: int


def run_attempt(attempt: Attempt, *, console: Console) -> AttemptFacts:
    """Launch the command, show it to its end, and gather the facts. Raises Left when the user leaves it running."""
    become_subreaper()  # should the holder be killed, its orphans come to us, and we can end them
    streams = look_at_streams()
    place = make_attempt_folder(attempt.folder, attempt.number) if attempt.folder is not None else None
    holder = start_holder(_give_orders(attempt, streams, place), log_path=place.holder_log if place is not None else None)
    last_word = follow(HolderLine(holder.connection), streams=streams, console=console)
    if last_word is None:
        _end_orphans()
    facts = gather_facts(_read_last_word(last_word, attempt), attempt.folder, place)
    _let_go(holder)
    return facts


def gather_facts(ending: Ending | None, folder: RunFolder | None, place: AttemptFolder | None) -> AttemptFacts:
    """Collect what the run folder and the holder know about an attempt."""
    if folder is None or place is None:
        return AttemptFacts(ending=ending, beats=(), events=())
    return AttemptFacts(ending=ending, beats=read_beats(place.beats), events=tuple(read_events(folder, place)))


def _give_orders(attempt: Attempt, streams: Streams, place: AttemptFolder | None) -> Orders:
    request = attempt.request
    is_kept = attempt.folder is not None and not attempt.folder.is_temporary
    settings = Settings(
        run_id=attempt.run_id,
        beats_dir=_text(place and place.beats),
        events_dir=_text(place and place.events),
        guards_off=request.guards_off,
        fixes_off=request.fixes_off,
        allow=request.allow,
    )
    return Orders(
        run_id=attempt.run_id,
        program=attempt.program,
        argv=request.command.argv,
        environment=inject_guard(request.environment, settings),
        cwd=str(request.cwd),
        ignored_signals=list_ignored_signals(),
        terminal_fds=streams.terminal_fds,
        shares_output=streams.shares_output,
        rows=streams.rows,
        columns=streams.columns,
        grace_seconds=request.grace_seconds,
        log_path=str(attempt.folder.output) if attempt.folder is not None and is_kept else None,
        socket_path=_text(place and place.socket),
        beats_dir=settings.beats_dir,
        events_dir=settings.events_dir,
        ending_path=_text(place and place.ending),
        holder_path=_text(place and place.holder),
        temporary_folder=str(attempt.folder.path) if attempt.folder is not None and not is_kept else None,
    )


def _read_last_word(last_word: dict[str, Any] | None, attempt: Attempt) -> Ending | None:
    if last_word is None:
        return None
    number = last_word.get("errno")
    if number is not None:
        name = attempt.request.command.argv[0]
        message = f"{name} cannot be executed: {os.strerror(number)}. A script needs a first line such as #!/bin/bash; a program, this machine's kind."
        raise CommandError(message, exit_code=ExitCode.NOT_EXECUTABLE)
    return read_ending(last_word)


def _let_go(holder: StartedHolder) -> None:
    """Close the line, upon which the holder leaves, and see that it has."""
    holder.connection.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        holder.process.wait(_HOLDER_LEAVES_SECONDS)


def _end_orphans() -> None:
    """End what a killed holder left behind: as its subreaper we have inherited it."""
    until = time.monotonic() + _HOLDER_LEAVES_SECONDS
    while any(not process.is_zombie for process in find_descendants(os.getpid())) and time.monotonic() < until:
        end_descendants(os.getpid(), _SIGKILL)
        time.sleep(0.05)


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None
