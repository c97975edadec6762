"""Which processes are there, and who started whom?

Reads /proc itself: the holder must stay small, and psutil costs more memory than the whole of it.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Process:
    """A process as /proc shows it. `start_ticks` tells two processes with the same pid apart."""

    pid: int
    parent_pid: int
    state: str
    start_ticks: int

    @property
    def is_zombie(self) -> bool:
        return self.state in "ZX"


def list_processes() -> dict[int, Process]:
    """List all processes we can see, by pid."""
    found = (read_process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def read_process(pid: int) -> Process | None:
    """Read one process; None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold spaces and parentheses itself.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    return Process(pid, int(fields[1]), fields[0].decode(), int(fields[19]))


def find_descendants(root_pid: int, processes: Mapping[int, Process] | None = None) -> list[Process]:
    """List the processes below one, zombies too, parents before children."""
    everyone = list_processes() if processes is None else processes
    children: dict[int, list[Process]] = {}
    for process in everyone.values():
        children.setdefault(process.parent_pid, []).append(process)
    found: list[Process] = []
    waiting = list(children.get(root_pid, ()))
    while waiting:
        process = waiting.pop(0)
        waiting.extend(children.get(process.pid, ()))
        found.append(process)
    return found


def is_alive(pid: int, start_ticks: int | None = None) -> bool:
    """Tell whether a process lives; with its start, whether it is still the same one."""
    process = read_process(pid)
    return process is not None and not process.is_zombie and start_ticks in (None, process.start_ticks)


def read_started_at(pid: int) -> float | None:
    """Read when a process was started, in seconds since the epoch, to about a second (proc(5): starttime, btime)."""
    process = read_process(pid)
    try:
        with open("/proc/stat", "rb") as file:
            booted_at = next(int(line.split()[1]) for line in file if line.startswith(b"btime"))
    except (OSError, StopIteration, ValueError):
        return None
    return booted_at + process.start_ticks / os.sysconf("SC_CLK_TCK") if process is not None else None


def read_words(pid: int) -> tuple[str, ...]:
    """Read the command line of a process; empty when it cannot be read."""
    return _read_list(pid, "cmdline")


def read_environment(pid: int) -> dict[str, str]:
    """Read the environment that a process was started with; empty when it cannot be read."""
    pairs = (entry.partition("=") for entry in _read_list(pid, "environ"))
    return {name: value for name, _, value in pairs}


def send_signal(pids: Iterable[int], signal_number: int) -> int:
    """Send a signal to processes; those that are gone, or not ours, don't count."""
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except (ProcessLookupError, PermissionError):
            continue
        sent += 1
    return sent


def _read_list(pid: int, name: str) -> tuple[str, ...]:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            content = file.read()
    except OSError:
        return ()
    return tuple(os.fsdecode(part) for part in content.rstrip(b"\0").split(b"\0"))
