"""The `swift` front as laststep sees it: it waits for one child and passes its code on, so that -9 comes out as 247.

`front.py PROGRAM ARG…`
"""

import json
import os
import subprocess
import sys

from laststep_guard import wire
from laststep_guard.emit import Emitter

events = Emitter(json.loads(os.environ[wire.ENVIRONMENT])["events_dir"], None)
events.emit(wire.EventKind.ATTACHED, role="launcher")
child = subprocess.Popen(sys.argv[1:])
code = child.wait()
events.emit(wire.EventKind.CHILD_ENDED, child=child.pid, code=code, command="torchrun")
sys.exit(code)
