"""Is the port free that the ranks are to meet at?"""

from collections.abc import Iterator

from laststep.host.machine import Machine
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.settings import Setting
from laststep.records.text import Text

NAME = "port"
_DEFAULT_PORT = 29500  # torch's own, where several ranks start and none is given
_PASSED = Text(en="the rendezvous port is free", zh="rendezvous 端口空闲")
_TAKEN = Text(
    en="Port {port} is in use, and the ranks are to meet there", zh="端口 {port} 被占用，而各 rank 要在此会合"
)
_ANOTHER = Text(
    en="Give another (MASTER_PORT, --master_port), or end what is left of an earlier run",
    zh="换一个端口（MASTER_PORT、--master_port），或结束之前遗留的进程",
)


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report a port that somebody listens on, where more than one rank starts."""
    ranks = plan.settings.read_number(Setting.RANKS) or 1
    port = plan.settings.read_number(Setting.PORT) or (_DEFAULT_PORT if ranks > 1 else None)
    if port is None or machine.is_port_free(port) is not False:
        return
    summary = _TAKEN.fill(port=port)
    yield Finding(check=NAME, severity=Severity.BLOCKER, summary=summary, fix=_ANOTHER, change="free_port")


CHECK = Check(NAME, _PASSED, look)
