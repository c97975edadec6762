"""How is a run asked to save now, and go on?"""

from laststep.host.clock import Clock
from laststep.journal.layout import RunFolder
from laststep.launch.connect import HolderLine
from laststep.launch.messages import Kind, receive
from laststep.records.text import Text
from laststep.supervisor.console import Console
from laststep.supervisor.notices import word_notice
from laststep.supervisor.reach_holder import reach_holder

_STILL_SECONDS = 10.0
_STILL = Text(
    en="still waiting for a step to end ({waited:.0f} s); Ctrl-C stops the waiting, not the save",
    zh="仍在等待步骤结束（{waited:.0f} 秒）；按 Ctrl-C 停止等待，不影响保存",
)
_LATE = Text(
    en="no step has ended within {seconds:g} s; the save comes when one does",
    zh="{seconds:g} 秒内没有步骤结束；步骤结束时会保存",
)
_OVER = Text(en="run {run_id} ended before it could save", zh="运行 {run_id} 在保存之前已结束")
_ENDS = {"saved": True, "save_failed": False, "save_given_up": False, "cannot_save": False}


def save_run(folder: RunFolder, *, within_seconds: float, console: Console, clock: Clock) -> bool:
    """Ask a run to save and wait until it has; False when it has not."""
    connection = reach_holder(folder, console)
    if connection is None:
        return False
    HolderLine(connection).save()
    began = told_at = clock.monotonic()
    connection.settimeout(1.0)
    with connection:
        while clock.monotonic() - began < within_seconds:
            try:
                message = receive(connection)
            except TimeoutError:
                if clock.monotonic() - told_at >= _STILL_SECONDS:
                    told_at = clock.monotonic()
                    console.say(_STILL.fill(waited=told_at - began))
                continue
            if message is None or message.kind is Kind.ENDED:
                console.say(_OVER.fill(run_id=folder.run_id))
                return False
            if message.kind is Kind.NOTICE:
                console.say(word_notice(message.values))
                about = str(message.values.get("about"))
                if about in _ENDS:
                    return _ENDS[about]
    console.say(_LATE.fill(seconds=within_seconds))
    return False
