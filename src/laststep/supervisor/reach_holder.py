"""How is the holder of a run reached by somebody who did not start it?"""

import socket

from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_object
from laststep.launch.connect import connect
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.list_runs import is_held

_NOT_RUNNING = Text(en="run {run_id} is not running", zh="运行 {run_id} 未在运行")
_UNREACHABLE = Text(
    en="run {run_id} is held by process {pid}, which cannot be reached; end the run with: kill {pid}",
    zh="运行 {run_id} 由进程 {pid} 持有，但无法连接；可用 kill {pid} 结束",
)


def is_running(folder: RunFolder) -> bool:
    """Whether the last attempt of a run has a holder."""
    attempts = folder.attempts()
    return bool(attempts) and is_held(attempts[-1])


def reach_holder(folder: RunFolder, console: Console) -> socket.socket | None:
    """Connect to the holder of a run; None, and said, when there is none or it cannot be reached."""
    if not is_running(folder):
        console.say(_NOT_RUNNING.fill(run_id=folder.run_id))
        return None
    holder = read_object(folder.attempts()[-1].holder)
    connection = connect(str(holder["socket"])) if holder.get("socket") else None
    if connection is None:
        console.say(_UNREACHABLE.fill(run_id=folder.run_id, pid=holder["pid"]))
    return connection
