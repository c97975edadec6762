"""Is /dev/shm large enough for loader workers and NCCL?

A container gets 64 MiB of it unless it is told otherwise (docs.docker.com/engine/containers/run, `--shm-size`). Loader
workers hand batches over through it, NCCL puts its buffers there.
"""

from collections.abc import Iterator

from laststep.host.machine import Machine
from laststep.preflight.checks.check import Check
from laststep.records.finding import Finding, Severity
from laststep.records.plan import Plan
from laststep.records.settings import Setting
from laststep.records.text import Text

NAME = "shared-memory"
_BYTES_OF_A_RANK = 64 << 20  # what NCCL and one worker of pictures take at the least
_PASSED = Text(en="shared memory is large enough for a start", zh="共享内存足以启动")
_SMALL = Text(en="Shared memory is too small for loader workers", zh="共享内存对数据加载进程来说太小")
_NUMBERS = Text(
    en="{free} of {total} MiB are free; {ranks} rank(s) with {workers} worker(s) each take {needed} MiB at the least",
    zh="剩余 {free} / {total} MiB；{ranks} 个 rank 各 {workers} 个加载进程，至少需要 {needed} MiB",
)
_ENLARGE = Text(
    en="Start the container with --shm-size 8g or --ipc=host (Kubernetes: an emptyDir in memory at /dev/shm)",
    zh="启动容器时加 --shm-size 8g 或 --ipc=host（Kubernetes：在 /dev/shm 挂载内存 emptyDir）",
)


def look(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """Report a /dev/shm that the first batches fill. The guard of memory keeps the loader inside it."""
    workers = plan.settings.read_number(Setting.LOADER_WORKERS) or 0
    ranks = plan.settings.read_number(Setting.RANKS) or 1
    space = machine.read_shared_memory()
    if space is None or (not workers and ranks == 1):
        return
    needed = ranks * (workers + 1) * _BYTES_OF_A_RANK
    if space.free_bytes >= needed:
        return
    free, total, least = (count >> 20 for count in (space.free_bytes, space.total_bytes, needed))
    yield Finding(
        check=NAME,
        severity=Severity.BLOCKER if space.free_bytes < _BYTES_OF_A_RANK else Severity.WARNING,
        summary=_SMALL,
        detail=_NUMBERS.fill(free=free, total=total, ranks=ranks, workers=workers, needed=least),
        fix=_ENLARGE,
        cured_by=("memory-budget",) if workers else (),
    )


CHECK = Check(NAME, _PASSED, look)
