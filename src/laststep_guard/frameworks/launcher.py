"""How did the processes end that `swift` and torchrun's agent started?

Only a parent can read an exit status: torchrun turns a SIGKILLed rank into exit code 1, and `swift` turns a SIGKILLed
trainer into 247. So the parents write down what `subprocess` tells them.
"""

import os
from types import ModuleType
from typing import Any

from laststep_guard.guardian import Guardian
from laststep_guard.wire import EventKind

_MOST_CHILDREN = 1000  # a data preparation may start ffmpeg a million times; the launchers start a handful
_LAUNCHERS = ("python", "torchrun", "accelerate", "deepspeed", "swift", "llamafactory-cli", "axolotl")


def record_children(subprocess: ModuleType, guardian: Guardian) -> None:
    """Record how the Python children of this process end, unless it is a rank."""
    if guardian.rank is not None:
        return
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
        words = [str(word) for word in process.args[:3]] if isinstance(process.args, (list, tuple)) else []
        guardian.emit(EventKind.CHILD_ENDED, child=process.pid, code=process.returncode, command=" ".join(words))

    note = guardian.shield.wrap("record a child's end", record)
    guardian.patches.wrap(process_class, "_handle_exitstatus", make)


def _is_python(arguments: Any) -> bool:
    if not isinstance(arguments, (list, tuple)) or not arguments:
        return False
    program = os.path.basename(os.fsdecode(arguments[0])) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
    return program.startswith(_LAUNCHERS)
