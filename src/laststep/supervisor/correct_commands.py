"""What is the command to run instead, for each advice that laststep can write down?"""

from dataclasses import replace

from laststep.planning.foreign_command import read_foreign_command, write_text
from laststep.planning.settings import read_settings, write_settings
from laststep.records.command import Command
from laststep.records.verdict import Advice, Diagnosis, Verdict
from laststep.recovery.changes.catalog import BY_NAME


def correct_commands(diagnosis: Diagnosis) -> Diagnosis:
    """Put the whole corrected command beside each advice, where it is known and the change would do something."""
    command = read_foreign_command(diagnosis.command) if diagnosis.command else None
    if command is None:
        return diagnosis
    return replace(
        diagnosis,
        verdict=_correct(diagnosis.verdict, command),
        also=tuple(_correct(verdict, command) for verdict in diagnosis.also),
    )


def _correct(verdict: Verdict, command: Command) -> Verdict:
    return replace(verdict, advice=tuple(_write(advice, command) for advice in verdict.advice))


def _write(advice: Advice, command: Command) -> Advice:
    return replace(advice, command=write_changed(command, advice.change)) if advice.change else advice


def write_changed(command: Command, change: str) -> str | None:
    """Write a command after a named change as text for a shell; None where there is nothing to change."""
    before = read_settings(command)
    now = BY_NAME[change].apply(before)
    if now is None:
        return None
    return write_text(write_settings(command, before, now), is_supervised=now.is_supervised)
