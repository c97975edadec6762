"""How does work of ours give way to the training?"""

import os
import threading

_NICE = 15


def give_way() -> None:
    """Let the calling thread run when nobody else wants to. On Linux alone a thread has a priority of its own."""
    setpriority = getattr(os, "setpriority", None)
    if setpriority is not None and os.uname().sysname == "Linux":
        setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
