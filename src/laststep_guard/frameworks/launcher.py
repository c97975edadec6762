"""How did the processes end that `swift` and torchrun's agent started?

Only a parent can read an exit status: torchrun turns a SIGKILLed rank into exit code 1, and `swift` turns a SIGKILLed
trainer into 247. So the parents write down what `subprocess` tells them.
"""

import os
import signal
import threading
from types import ModuleType
from typing import Any

from laststep_guard.guardian import Guardian
from laststep_guard.wire import EventKind

_MOST_CHILDREN = 1000  # a data preparation may start ffmpeg a million times; the launchers start a handful
_FAREWELL_SECONDS = 3
_LAUNCHERS = ("python", "torchrun", "accelerate", "deepspeed", "swift", "llamafactory-cli", "axolotl")


def record_children(subprocess: ModuleType, guardian: Guardian) -> None:
    """Record how the Python children of this process end, unless it is a rank."""
    if guardian.rank is not None:
        return
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
        # A scheduler may send it to all. It asks ranks for a save; a launcher would end of it. Not SIG_IGN: that would
        # be inherited by the ranks.
        signal.signal(signal.SIGUSR1, _let_pass)
    recorded = 0
    process_class = subprocess.Popen

    def make(original: Any) -> Any:
        def handle(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            note(self)
            return result

        return handle

    def record(process: Any) -> None:
        nonlocal recorded
        if process.returncode is None or recorded >= _MOST_CHILDREN or not _is_python(process.args):
            return
        recorded += 1
        guardian.state.has_failed_child |= process.returncode not in (0, 128 + signal.SIGTERM, -signal.SIGTERM)
        words = [str(word) for word in process.args[:3]] if isinstance(process.args, (list, tuple)) else []
        guardian.emit(EventKind.CHILD_ENDED, child=process.pid, code=process.returncode, command=" ".join(words))

    note = guardian.shield.wrap("record a child's end", record)
    guardian.patches.wrap(process_class, "_handle_exitstatus", make)


def shorten_farewell(module: ModuleType, guardian: Guardian) -> None:
    """Let torchrun's agent not wait half a minute for ranks whose peer has failed.

    SIGTERM ended them at once, before we took it for a wish to save; a rank that hangs in a collective never comes to
    say no. `module` is `torch.distributed.elastic.multiprocessing.api`.
    """
    if guardian.settings.wants_guard("save"):
        guardian.patches.wrap(module.PContext, "close", lambda original: _closing(original, guardian))


def _closing(original: Any, guardian: Guardian) -> Any:
    def close(self: Any, death_sig: Any = None, timeout: float = 30) -> Any:
        return original(
            self, death_sig, min(timeout, _FAREWELL_SECONDS) if guardian.state.has_failed_child else timeout
        )

    return close


def _let_pass(_number: int, _frame: Any) -> None:
    pass


def _is_python(arguments: Any) -> bool:
    if not isinstance(arguments, (list, tuple)) or not arguments:
        return False
    program = os.path.basename(os.fsdecode(arguments[0])) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
    return program.startswith(_LAUNCHERS)
