"""What will break when this command is run here, and what is the command to run instead?"""

import os
from dataclasses import dataclass
from pathlib import Path

from laststep.host.machine import Machine
from laststep.host.training_python import Environment
from laststep.planning.foreign_command import write_text
from laststep.planning.name_run import output_folder
from laststep.planning.settings import read_settings
from laststep.preflight.run_checks import run_checks
from laststep.records.command import Command
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.supervisor.ask_arguments import ask_arguments
from laststep.supervisor.correct_plan import Correction, apply_changes, write_accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCommand:
    """What the checks found, and each change that makes the command do better."""

    findings: tuple[Finding, ...]
    corrections: tuple[Correction, ...] = ()

    @property
    def is_blocked(self) -> bool:
        return any(finding.severity is Severity.BLOCKER for finding in self.findings)

    @property
    def command(self) -> str | None:
        """The corrected command as text for a shell; None where nothing is to be changed, or can be."""
        return write_text(self.corrections[-1].command) if self.corrections else None


def check_command(
    command: Command, machine: Machine, environment: Environment | None, *, cwd: Path, answers: Path | None
) -> CheckedCommand:
    """Check a command as it was typed, on this machine, without starting anything of it."""
    programs = ask_arguments(command, environment, answers=answers)
    # What the command means is read from its words as the installed version knows them.
    accepted = write_accepted(command, programs)
    meant = accepted.command if accepted is not None else command
    folder = output_folder(meant)
    start = cwd / (command.working_directory or "")
    plan = Plan(
        settings=read_settings(meant),
        output_dir=os.path.normpath(start / folder) if folder is not None else None,
        programs=programs,
    )
    findings = run_checks(plan, machine)
    corrections = [accepted] if accepted is not None else []
    return CheckedCommand(findings=findings, corrections=(*corrections, *apply_changes(meant, findings)))
