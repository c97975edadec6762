"""What stands in a kept log for the places of the machine that made it."""

import os
import re
import socket
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
ENVS = Path(os.environ.get("LASTSTEP_ENVS") or PROJECT / ".envs")
LAB = Path(os.environ.get("LASTSTEP_LAB") or PROJECT / ".lab")


def replace_places(text, work):
    """Put places that everybody has in the place of those of this machine."""
    own_python = re.escape(str(Path(os.path.realpath(sys.executable)).parent.parent))
    replaced = [
        (re.escape(str(work)), "/data/output"), (re.escape(str(LAB.absolute())), "/data/lab"),
        (re.escape(str(ENVS.absolute())) + r"/\w+", "/opt/env"), (re.escape(str(PROJECT)), "/data/project"),
        (own_python, "/usr/local"), (re.escape(socket.gethostname()), "host"),
        (re.escape(str(Path.home())), "/home/user"),
        (r"(?<=[(@ ])(?:\d{1,3}\.){3}\d{1,3}(?=[:)\s])", "10.0.0.1"),
    ]  # fmt: skip
    for pattern, place in replaced:
        text = re.sub(pattern, place, text)
    return text
