"""How are findings put before a person, or a program?"""

from collections.abc import Iterator
from typing import Any

from laststep.cli import render
from laststep.records.finding import Finding, Severity
from laststep.records.text import Language, Text
from laststep.supervisor.check_command import CheckedCommand
from laststep.supervisor.correct_plan import Correction

_WORDS = {
    Severity.BLOCKER: Text(en="BLOCKER", zh="阻断"),
    Severity.WARNING: Text(en="warning", zh="警告"),
    Severity.UNKNOWN: Text(en="unknown", zh="未知"),
    Severity.OK: Text(en="ok", zh="正常"),
}
_COLOURS = {Severity.BLOCKER: "\x1b[1;31m", Severity.WARNING: "\x1b[33m", Severity.UNKNOWN: "\x1b[2m", Severity.OK: ""}
_ORDER = (Severity.BLOCKER, Severity.WARNING, Severity.UNKNOWN, Severity.OK)
_CURED = Text(en="laststep run guards against it ({names})", zh="laststep run 可防护（{names}）")
_INSTEAD = Text(en="The command to run instead:", zh="建议改用以下命令：")


def show(checked: CheckedCommand, language: Language, *, as_json: bool, with_changes: bool = False) -> None:
    """Show on stdout what the checks found."""
    if as_json:
        values = [_list_values(finding, language) for finding in checked.findings]
        changes = [_list_change(correction, language) for correction in checked.corrections]
        render.show_values({"findings": values, "command": checked.command, "changes": changes})
    else:
        render.show_lines(
            lambda is_colourful: list(_write(checked, language, is_colourful=is_colourful, with_changes=with_changes))
        )


def _list_values(finding: Finding, language: Language) -> dict[str, Any]:
    return {
        "check": finding.check,
        "severity": finding.severity.value,
        "summary": finding.summary.say(language),
        "detail": finding.detail.say(language) if finding.detail is not None else None,
        "fix": finding.fix.say(language) if finding.fix is not None else None,
        "cured_by": list(finding.cured_by),
    }


def _list_change(correction: Correction, language: Language) -> dict[str, Any]:
    differences = [{"before": before, "after": after} for before, after in correction.differences]
    reason = correction.reason.say(language)
    return {"reason": reason, "class": correction.remedy_class, "differences": differences}


def _write(checked: CheckedCommand, language: Language, *, is_colourful: bool, with_changes: bool) -> Iterator[str]:
    for finding in sorted(checked.findings, key=lambda one: _ORDER.index(one.severity)):
        colour, plain = (_COLOURS[finding.severity], "\x1b[0m") if is_colourful else ("", "")
        word, summary = _WORDS[finding.severity].say(language), finding.summary.say(language)
        yield f"{colour}{word:<8}{plain} {finding.check}: {summary}"
        if finding.detail is not None:
            yield f"         {finding.detail.say(language)}"
        if finding.fix is not None:
            yield f"         → {finding.fix.say(language)}"
        if finding.cured_by:
            yield f"         {_CURED.fill(names=', '.join(finding.cured_by)).say(language)}"
    if with_changes:
        yield from _write_changes(checked, language, is_colourful=is_colourful)
    if checked.command is not None:
        yield from ("", _INSTEAD.say(language), f"  {checked.command}")


def _write_changes(checked: CheckedCommand, language: Language, *, is_colourful: bool) -> Iterator[str]:
    red, green, plain = ("\x1b[31m", "\x1b[32m", "\x1b[0m") if is_colourful else ("", "", "")
    for correction in checked.corrections:
        yield from ("", f"# {correction.reason.say(language)} ({correction.remedy_class})")
        for before, after in correction.differences:
            if before is not None:
                yield f"{red}- {before}{plain}"
            if after is not None:
                yield f"{green}+ {after}{plain}"
