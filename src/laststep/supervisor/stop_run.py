"""How is a run ended that somebody else started?"""

from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_object
from laststep.launch.connect import HolderLine, connect
from laststep.launch.messages import Kind, receive
from laststep.records.ending import StopManner
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.list_runs import is_held
from laststep.supervisor.notices import word_notice

_NOT_RUNNING = Text(en="run {run_id} is not running", zh="运行 {run_id} 未在运行")
_OVER = Text(en="run {run_id} is over; no process of it is left", zh="运行 {run_id} 已结束，没有遗留进程")
_UNREACHABLE = Text(
    en="run {run_id} is held by process {pid}, which cannot be reached; end the run with: kill {pid}",
    zh="运行 {run_id} 由进程 {pid} 持有，但无法连接；可用 kill {pid} 结束",
)


def stop_run(folder: RunFolder, manner: StopManner, *, console: Console) -> bool:
    """Ask a run to stop and wait until it is over; False when that could not be done."""
    attempts = folder.attempts()
    if not attempts or not is_held(attempts[-1]):
        console.say(_NOT_RUNNING.fill(run_id=folder.run_id))
        return True
    holder = read_object(attempts[-1].holder)
    connection = connect(str(holder["socket"])) if holder.get("socket") else None
    if connection is None:
        console.say(_UNREACHABLE.fill(run_id=folder.run_id, pid=holder["pid"]))
        return False
    HolderLine(connection).stop(manner)
    while (message := receive(connection)) is not None and message.kind is not Kind.ENDED:
        if message.kind is Kind.NOTICE:
            console.say(word_notice(message.values))
    connection.close()
    console.say(_OVER.fill(run_id=folder.run_id))
    return True
