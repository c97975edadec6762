"""What will break when this command is run here, and what is the command to run instead?"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from laststep.host.machine import Machine
from laststep.planning.foreign_command import write_text
from laststep.planning.name_run import output_folder
from laststep.planning.settings import read_settings, write_settings
from laststep.preflight.run_checks import run_checks
from laststep.records.command import Command
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.recovery.changes.catalog import BY_NAME


@dataclass(frozen=True, slots=True)
class CheckedCommand:
    """What the checks found, and the corrected command as text for a shell; None where none of it can be written."""

    findings: tuple[Finding, ...]
    command: str | None = None

    @property
    def is_blocked(self) -> bool:
        return any(finding.severity is Severity.BLOCKER for finding in self.findings)


def check_command(command: Command, machine: Machine, *, cwd: Path) -> CheckedCommand:
    """Check a command as it was typed, on this machine, without starting anything."""
    folder = output_folder(command)
    start = cwd / (command.working_directory or "")
    plan = Plan(
        settings=read_settings(command), output_dir=os.path.normpath(start / folder) if folder is not None else None
    )
    findings = run_checks(plan, machine)
    return CheckedCommand(findings, _correct(command, plan, findings))


def _correct(command: Command, plan: Plan, findings: Iterable[Finding]) -> str | None:
    """Make every change that a finding names, as far as it leaves the training what it is."""
    now = plan.settings
    for finding in findings:
        change = BY_NAME[finding.change] if finding.change is not None else None
        if change is not None and change.remedy_class != "altering":
            now = change.apply(now) or now
    return None if now is plan.settings else write_text(write_settings(command, plan.settings, now))
