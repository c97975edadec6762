"""What do the checks say of a plan on a machine?"""

from laststep.host.machine import Machine
from laststep.preflight.checks.catalog import CHECKS
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.text import Text

_BROKE = Text(en="the check itself failed: {error}: {message}", zh="检查本身出错：{error}：{message}")


def run_checks(plan: Plan, machine: Machine) -> tuple[Finding, ...]:
    """Ask every check. One that breaks says that it could not tell; the others are asked all the same."""
    return tuple(finding for check in CHECKS for finding in _ask(check, plan, machine))


def _ask(check: Check, plan: Plan, machine: Machine) -> tuple[Finding, ...]:
    try:
        found = tuple(check.look(plan, machine))
    except Exception as error:  # noqa: BLE001  # could-not-tell is an answer, and the others are to be heard
        summary = _BROKE.fill(error=type(error).__name__, message=error)
        return (Finding(check=check.name, severity=Severity.UNKNOWN, summary=summary),)
    return found or (Finding(check=check.name, severity=Severity.OK, summary=check.passed),)
