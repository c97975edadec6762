"""What is to be run instead of a command, and why is each of its changes made?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from laststep.planning.correct_arguments import correct_arguments
from laststep.planning.settings import read_settings, write_settings
from laststep.planning.write_command import list_word_differences
from laststep.records.arguments import ProgramArguments
from laststep.records.command import Command
from laststep.records.finding import Finding
from laststep.records.text import Text
from laststep.recovery.changes.catalog import BY_NAME

_ACCEPTED = Text(en="the installed version refuses it as it stands", zh="已安装的版本不接受原写法")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One change of a command: words that differ, (before, after) with None for what is not there, and the reason."""

    reason: Text
    remedy_class: str  # one of wire.REMEDY_CLASSES
    differences: tuple[tuple[str | None, str | None], ...]
    command: Command  # after this change and those before it


def write_accepted(command: Command, programs: Iterable[ProgramArguments]) -> Correction | None:
    """Write the arguments that are refused as the installed version accepts them; None where nothing is to be done."""
    accepted = correct_arguments(command, (problem for program in programs for problem in program.problems))
    if accepted == command:
        return None
    return _describe(command, accepted, _ACCEPTED, "identical")


def apply_changes(command: Command, findings: Iterable[Finding]) -> Iterator[Correction]:
    """Make every change that a finding names, one after the other, as far as it leaves the training what it is."""
    for finding in findings:
        change = BY_NAME[finding.change] if finding.change is not None else None
        if change is None or change.remedy_class == "altering":
            continue
        before = read_settings(command)
        now = change.apply(before)
        if now is None:
            continue
        changed = write_settings(command, before, now)
        yield _describe(command, changed, finding.summary, change.remedy_class)
        command = changed


def _describe(before: Command, after: Command, reason: Text, remedy_class: str) -> Correction:
    return Correction(
        reason=reason,
        remedy_class=remedy_class,
        differences=list_word_differences(before, after),
        command=after,
    )
