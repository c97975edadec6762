"""What is written down about a run before it starts?"""

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import laststep
from laststep.journal.redact import redact_argv, redact_environment
from laststep.planning.dialects.dialect import read_flag
from laststep.planning.name_run import output_folder
from laststep.records.request import RunRequest
from laststep.supervisor.sample_inputs import sample_inputs

_VERSION_OPTIONS = ("--add_version", "--add-version")


def describe_run(request: RunRequest, *, run_id: str, started_at: float) -> dict[str, Any]:
    """Describe a run, without its secrets."""
    argv = request.command.argv
    output_dir = find_output_dir(request)
    return {
        "run_id": run_id,
        "laststep": laststep.__version__,
        "command": redact_argv(argv),
        "environment": redact_environment(dict(request.environment)),
        "cwd": str(request.cwd),
        "start_folder": str(request.start_folder),
        "assignments": redact_environment(dict(request.command.environment)),
        "inputs": sample_inputs(argv, request.start_folder),
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started_at": started_at,
        "output_dir": str(output_dir) if output_dir is not None else None,
        "guards_off": request.guards_off,
        "fixes_off": request.fixes_off,
        "allow": request.allow,
        "grace_seconds": request.grace_seconds,
    }


def find_output_dir(request: RunRequest) -> Path | None:
    """Find the folder that the training writes to, as far as the command tells."""
    folder = output_folder(request.command)
    return Path(os.path.normpath(request.start_folder / folder)) if folder else None


def adds_version(argv: Sequence[str]) -> bool:
    """Tell whether ms-swift gives each launch a folder of its own inside the output folder."""
    is_swift = any(Path(word).name == "swift" for word in argv[:4])
    return is_swift and (read_flag(argv, _VERSION_OPTIONS) or "true").lower() not in ("false", "0", "no")
