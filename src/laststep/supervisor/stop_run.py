"""How is a run ended that somebody else started?"""

from laststep.journal.layout import RunFolder
from laststep.launch.connect import HolderLine
from laststep.launch.messages import Kind, receive
from laststep.records.ending import StopManner
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.notices import word_notice
from laststep.supervisor.reach_holder import is_running, reach_holder

_OVER = Text(en="run {run_id} is over; no process of it is left", zh="运行 {run_id} 已结束，没有遗留进程")


def stop_run(folder: RunFolder, manner: StopManner, *, console: Console) -> bool:
    """Ask a run to stop and wait until it is over; False when that could not be done."""
    connection = reach_holder(folder, console)
    if connection is None:
        return not is_running(folder)
    HolderLine(connection).stop(manner)
    while (message := receive(connection)) is not None and message.kind is not Kind.ENDED:
        if message.kind is Kind.NOTICE:
            console.say(word_notice(message.values))
    connection.close()
    console.say(_OVER.fill(run_id=folder.run_id))
    return True
