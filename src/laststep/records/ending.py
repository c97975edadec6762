"""How did an attempt end, as far as the processes tell?"""

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


class StopManner(enum.Enum):
    """How the run was asked to stop."""

    WELL = "well"
    AT_ONCE = "at_once"


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """A process of the run that ended. `code` is as subprocess gives it: -9 for SIGKILL."""

    pid: int
    code: int
    at: float  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Somebody asked us to stop the run."""

    manner: StopManner
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What the holder knows when all is over. Times are seconds since the epoch."""

    command: ProcessEnd
    started_at: float
    sweep_began_at: float | None = None  # from here on processes end because we end them
    stop_requests: tuple[StopRequest, ...] = ()
    reaped: tuple[ProcessEnd, ...] = ()  # orphans that came to us
    swept: int = 0  # processes that outlived the command and were ended
    output_bytes: int = 0
    log_bytes_dropped: int = 0  # output that could not be copied to the log
    segments_removed: tuple[str, ...] = ()  # shared memory that killed workers had left
    oom_kills: int | None = None  # processes that the kernel killed in the run's cgroup meanwhile; None: not counted
    memory_peak_bytes: int | None = None  # of that cgroup, since it was made
    memory_limit_bytes: int | None = None


def write_ending(ending: Ending) -> dict[str, Any]:
    """Turn an ending into plain values for JSON."""
    values = asdict(ending)
    values["stop_requests"] = [{"manner": request.manner.value, "at": request.at} for request in ending.stop_requests]
    return values


def read_ending(values: Mapping[str, Any]) -> Ending:
    """Read an ending back. Raises KeyError, TypeError or ValueError when it is garbled."""
    return Ending(
        command=ProcessEnd(**values["command"]),
        started_at=values["started_at"],
        sweep_began_at=values["sweep_began_at"],
        stop_requests=tuple(
            StopRequest(StopManner(request["manner"]), request["at"]) for request in values["stop_requests"]
        ),
        reaped=tuple(ProcessEnd(**end) for end in values["reaped"]),
        swept=values["swept"],
        output_bytes=values["output_bytes"],
        log_bytes_dropped=values["log_bytes_dropped"],
        segments_removed=tuple(values["segments_removed"]),
        oom_kills=values.get("oom_kills"),
        memory_peak_bytes=values.get("memory_peak_bytes"),
        memory_limit_bytes=values.get("memory_limit_bytes"),
    )
