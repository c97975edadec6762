"""Whom do we ask to stop, and how do we end what does not?

A SIGTERM to `swift` orphans the trainer, and torchrun kills its ranks half a minute after its own SIGTERM. So the ranks
themselves are asked, and their launchers are left to find out.
"""

import os
import signal
from collections.abc import Mapping, Sequence

from laststep.host.clock import Clock
from laststep.host.processes import Process, find_descendants, read_environment, read_words, send_signal
from laststep_guard import wire

_ORPHANS_SECONDS = 10.0
_HELPER_MARKS = (
    "multiprocessing.spawn",
    "multiprocessing.forkserver",
    "multiprocessing.resource_tracker",
    "--multiprocessing-fork",
)


def find_ranks(holder_pid: int, beats_dir: str | None) -> list[int]:
    """Find whom to ask: ranks by their beats and their environment, else whatever is no helper of another."""
    living = [process for process in find_descendants(holder_pid) if not process.is_zombie]
    by_beat = {beat.pid for beat in read_beats(beats_dir)} & {process.pid for process in living}
    by_environment = {process.pid: process for process in living if _has_rank(process.pid)}
    # Children of a rank inherit its environment; only the topmost is the rank. It may not have come to its beat yet.
    topmost = {process.pid for process in by_environment.values() if process.parent_pid not in by_environment}
    return sorted(by_beat | topmost) or [process.pid for process in _leave_out_helpers(living)]


def read_beats(beats_dir: str | None) -> list[wire.Beat]:
    """Read the beats that are whole."""
    if beats_dir is None:
        return []
    try:
        names = os.listdir(beats_dir)
    except OSError:
        return []
    beats = [_read_beat(os.path.join(beats_dir, name)) for name in names]
    return [beat for beat in beats if beat is not None]


def read_every_beat(beats_dir: str) -> list[wire.Beat] | None:
    """Read the beats of all ranks; None when one is torn, because it is being written: look again."""
    try:
        beats = [_read_beat(os.path.join(beats_dir, name)) for name in os.listdir(beats_dir)]
    except OSError:
        return []
    whole = [beat for beat in beats if beat is not None]
    return whole if len(whole) == len(beats) else None


def ask_to_stop(pids: Sequence[int]) -> int:
    """Send SIGTERM; gives how many got it."""
    return send_signal(pids, signal.SIGTERM)


def end_descendants(holder_pid: int, signal_number: int) -> int:
    """Send a signal to every process below the holder, stopped ones too; gives how many were there."""
    # Zombies too: one whose first thread has ended may have others that live on.
    pids = [process.pid for process in find_descendants(holder_pid)]
    send_signal(pids, signal_number)
    if signal_number != signal.SIGKILL:
        send_signal(pids, signal.SIGCONT)  # a stopped process cannot act on a signal
    return len(pids)


def end_orphans(clock: Clock) -> None:
    """End what a killed holder left behind: as its subreaper we have inherited it."""
    until = clock.monotonic() + _ORPHANS_SECONDS
    while any(not process.is_zombie for process in find_descendants(os.getpid())) and clock.monotonic() < until:
        end_descendants(os.getpid(), signal.SIGKILL)
        clock.sleep(0.05)


def _has_rank(pid: int) -> bool:
    # Some clusters set RANK for the whole job: then it says nothing about a process of it.
    return "RANK" not in os.environ and "RANK" in read_environment(pid)


def _leave_out_helpers(processes: Sequence[Process]) -> list[Process]:
    """Leave out loader workers and the like: forked copies of their parent, and multiprocessing's own programs."""
    words: Mapping[int, tuple[str, ...]] = {process.pid: read_words(process.pid) for process in processes}
    return [process for process in processes if not _is_helper(words[process.pid], words.get(process.parent_pid))]


def _is_helper(words: tuple[str, ...], parent_words: tuple[str, ...] | None) -> bool:
    return words == parent_words or any(mark in word for word in words for mark in _HELPER_MARKS)


def _read_beat(path: str) -> wire.Beat | None:
    try:
        with open(path, "rb") as file:
            return wire.read_beat(file.read(wire.BEAT_BYTES))
    except (OSError, ValueError):
        return None
