"""May a signal handler of torch's loader raise in the middle of a save?

torch's SIGCHLD handler raises in the main thread, at whatever bytecode it is on, when a worker of a loader has died.
Our loader installs none; where torch's own loader is at work (the loader guard is off or has declined), its handler
keeps still while a checkpoint is written. The worker's death is not lost: torch looks for it again when it waits for
a batch.
"""

import signal
from types import ModuleType
from typing import Any, Callable

from laststep_guard.guardian import Guardian


def shield_saves(module: ModuleType, guardian: Guardian) -> None:
    """Shield saves from torch's handler. `module` is `torch.utils.data._utils.signal_handling`."""
    if not guardian.settings.wants_guard("save"):
        return
    guardian.patches.wrap(module, "_set_SIGCHLD_handler", lambda original: _setting_quietly(original, guardian))


def _setting_quietly(original: Callable[[], None], guardian: Guardian) -> Callable[[], None]:
    def set_handler() -> None:
        before = signal.getsignal(signal.SIGCHLD)
        original()
        raising = signal.getsignal(signal.SIGCHLD)
        if raising is before or not callable(raising):
            return

        def handler(number: int, frame: Any) -> None:
            if not guardian.state.is_saving:
                raising(number, frame)
            elif callable(before):
                before(number, frame)

        signal.signal(signal.SIGCHLD, handler)

    return set_handler
