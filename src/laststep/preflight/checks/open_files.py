"""May a process hold as many files open as loader workers need?

torch's default way of handing tensors over takes a file descriptor each: docs.pytorch.org/docs/stable/multiprocessing.
"""

from collections.abc import Iterator

from laststep.host.machine import Machine
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.settings import Setting
from laststep.records.text import Text

NAME = "open-files"
_LEAST, _OF_A_WORKER = 1024, 256
_PASSED = Text(en="enough files may be open at once", zh="允许同时打开的文件数足够")
_FEW = Text(en="Few files may be open at once", zh="允许同时打开的文件数过少")
_NUMBERS = Text(
    en="the limit is {limit}; {workers} worker(s) want {needed}", zh="上限 {limit}；{workers} 个加载进程需要 {needed}"
)
_RAISE = Text(
    en="Raise it before the start: ulimit -n 65535 (docker: --ulimit nofile=65535)",
    zh="启动前提高：ulimit -n 65535（docker：--ulimit nofile=65535）",
)


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report a limit that loader workers come to."""
    workers = plan.settings.read_number(Setting.LOADER_WORKERS) or 0
    limit, needed = machine.read_open_files_limit(), max(_LEAST, workers * _OF_A_WORKER)
    if limit is None or limit >= needed:
        return
    detail = _NUMBERS.fill(limit=limit, workers=workers, needed=needed)
    yield Finding(check=NAME, severity=Severity.WARNING, summary=_FEW, detail=detail, fix=_RAISE)


CHECK = Check(NAME, _PASSED, look)
