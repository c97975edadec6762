"""How does ms-swift go on from a checkpoint when a script of the user's own starts it?

laststep adds flags to a command that it can read. What a shell script starts gets them here, before ms-swift reads its
command line: only the training whose output folder holds the checkpoint, since a script can start several.
"""

import os
import sys
from types import ModuleType
from typing import List, Optional

from laststep_guard.guardian import Guardian
from laststep_guard.wire import EventKind

_SCRIPTS = tuple(os.path.join("swift", "cli", name) for name in ("sft.py", "pt.py", "rlhf.py"))


def add_resume_flags(_module: ModuleType, guardian: Guardian) -> None:
    """Add the flags to this process's command line, if it is the training that the checkpoint belongs to."""
    checkpoint = guardian.settings.resume_from
    if checkpoint is None or not sys.argv or not sys.argv[0].endswith(_SCRIPTS):
        return
    if _is_own(checkpoint, sys.argv):
        folder = os.path.dirname(checkpoint)
        sys.argv += ["--output_dir", folder, "--add_version", "false", "--resume_from_checkpoint", checkpoint]
        guardian.emit(EventKind.RESUME_GIVEN, path=checkpoint, asked_for=None)


def _is_own(checkpoint: str, argv: List[str]) -> bool:
    if _read_flag(argv, "--resume_from_checkpoint") is not None:
        return False
    asked_for = _read_flag(argv, "--output_dir")
    folder = os.path.dirname(os.path.realpath(checkpoint))
    # With the folder of its version in between, unless the script switches that off.
    places = (folder, os.path.dirname(folder))
    if asked_for is None:  # ms-swift writes to output/<model>
        return os.path.realpath("output") == os.path.dirname(places[1])
    return os.path.realpath(asked_for) in places


def _read_flag(argv: List[str], name: str) -> Optional[str]:
    value = None
    for position, word in enumerate(argv):
        flag, sign, attached = word.partition("=")
        if flag == name:
            value = attached if sign else "".join(argv[position + 1 : position + 2])
    return value
