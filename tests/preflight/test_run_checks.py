from fakes.machine import FakeMachine
from laststep.preflight.checks.catalog import CHECKS
from laststep.preflight.run_checks import run_checks
from laststep.records.finding import Severity
from laststep.records.plan import Plan


class BrokenMachine(FakeMachine):
    def look_at(self, path):
        raise ZeroDivisionError("no such luck")


def test_every_check_answers():
    findings = run_checks(Plan(output_dir="/work/output"), FakeMachine())
    assert {finding.check for finding in findings} == {check.name for check in CHECKS}


def test_a_check_that_breaks_says_so_and_the_others_are_heard():
    """Could-not-tell is never a pass."""
    findings = {found.check: found for found in run_checks(Plan(output_dir="/work/output"), BrokenMachine())}

    broken = findings.pop("output-folder")

    assert broken.severity is Severity.UNKNOWN
    assert "ZeroDivisionError: no such luck" in broken.summary.en
    assert {found.severity for found in findings.values()} == {Severity.OK}
