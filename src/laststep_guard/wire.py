"""What does the guard write, and how is it read back?

The guard (inside training) and laststep (outside) share this module and nothing else.

Settings travel in the environment variable `ENVIRONMENT` as one JSON object, see `settings.py`.
Beats are small memory-mapped files, one a rank. Events are JSON lines, one file a process, so that no two processes
ever append to the same file (appends are not atomic on NFS).
"""

import contextlib
import enum
import os
import struct
from dataclasses import dataclass
from typing import Any, Optional, Tuple

ENVIRONMENT = "LASTSTEP_GUARD"
MANIFEST_NAME = "laststep-manifest.json"  # inside a checkpoint that was sealed
INCOMPLETE_MARKER = "checkpoint-is-incomplete.txt"  # inside one that was not written whole; transformers' own name

GUARD_NAMES: Tuple[str, ...] = ("heartbeat", "loader", "memory-budget", "loss", "save", "resume")
FIX_NAMES: Tuple[str, ...] = (
    "swift-repeated-documents", "swift-misaligned-documents", "swift-summed-accumulation", "torch-cpu-index",
)  # fmt: skip


class Phase(enum.IntEnum):
    """What a rank is doing."""

    START = 0
    DATA = 1
    STEP = 2
    EVALUATE = 3
    SAVE = 4
    END = 5


class Flag(enum.IntFlag):
    """What has been true of a rank since it started."""

    TRAINER_SEEN = 1  # a trainer began to train
    TRAIN_ENDED = 2  # its train() came back without an exception
    STOPPED_EARLY = 4  # a callback (early stopping) asked it to stop before the target step
    TAKES_REQUESTS = 8  # it looks for proposals at each step's end, and answers them
    STOPS_BY_ITSELF = 16  # a handler of the user's own takes its SIGTERM


# The beat: a head written once, and a body written on every change with its sequence number at both ends, so that a
# reader can tell a torn read. Little-endian, no padding; times are seconds since the epoch.
MAGIC = b"LSBEAT02"
_HEAD = struct.Struct("<8siiiid")  # magic, rank, local_rank, world_size, pid, started_at
_BODY = struct.Struct(
    "<QBBHiqqqqddQ"
)  # sequence, phase, flags, 0, micro_step, step, target_step, last_save, answer, beat_at, phase_since, sequence
BEAT_BYTES = _HEAD.size + _BODY.size


@dataclass(frozen=True)
class Beat:
    """The last sign of life of one rank."""

    rank: int
    local_rank: int
    world_size: int
    pid: int
    started_at: float
    phase: Phase
    flags: Flag
    step: int
    target_step: int  # 0 while unknown
    micro_step: int
    beat_at: float
    phase_since: float
    last_save: int = 0  # step of the last save that this rank has left; negative when it failed there
    answer: int = 0  # number of the last proposal that this rank agreed to; negative when it came too late for it


def beat_name(rank: int) -> str:
    """Name of a rank's beat file inside the beats folder."""
    return f"rank-{rank}"


def states_name(step: int, rank: int) -> str:
    """Name of what a rank needs to go on exactly after the save of a step, inside the states folder."""
    return f"step-{step}-rank-{rank}.json"


def fingerprints_name(rank: int) -> str:
    """Name of a rank's fingerprints inside the fingerprints folder: JSON lines `{"step", "rows", "loss"}`.

    `rows` tells the rows of the step's micro-batches apart (hex digits), `loss` is there where one was logged.
    """
    return f"rank-{rank}.jsonl"


def events_name(pid: int) -> str:
    """Name of a process's event file inside the events folder."""
    return f"guard-{pid}.jsonl"


# Requests: one folder for all ranks of a machine and the holder. The holder proposes a step to save at, the ranks
# answer in their beats, and one decision makes it so: a link that is made once, by whoever comes first.
PROPOSAL_NAME = "proposal.json"  # {"number", "step", "stop"}

REFUSED_NAME = "refused"  # there while ranks are to take SIGTERM as ever, since they cannot be asked


def wish_name(pid: int) -> str:
    """Name of the file by which a rank asks the holder to propose; its content is `stop` or `save`."""
    return f"wish-{pid}"


def decide(folder: str, number: int, *, wanted: bool) -> bool:
    """Decide on a proposal, unless that is done already; gives what was decided. Raises OSError."""
    path = os.path.join(folder, f"decision-{number}")
    with contextlib.suppress(FileExistsError):
        os.symlink("yes" if wanted else "no", path)
    return os.readlink(path) == "yes"


def read_decision(folder: str, number: int) -> Optional[bool]:
    """Read what was decided on a proposal; None when nothing was yet."""
    try:
        return os.readlink(os.path.join(folder, f"decision-{number}")) == "yes"
    except OSError:
        return None


def pack_head(  # noqa: PLR0913  # the fields of a head
    buffer: Any, *, rank: int, local_rank: int, world_size: int, pid: int, started_at: float
) -> None:
    """Write the part of a beat that never changes into any writable buffer."""
    _HEAD.pack_into(buffer, 0, MAGIC, rank, local_rank, world_size, pid, started_at)


def pack_body(  # noqa: PLR0913, PLR0917  # the fields of a body; by position, which is faster
    buffer: Any,
    sequence: int,
    phase: int,
    flags: int,
    micro_step: int,
    step: int,
    target_step: int,
    beat_at: float,
    phase_since: float,
    last_save: int = 0,
    answer: int = 0,
) -> None:
    """Write the part of a beat that changes; the step path calls this, so it stays one call."""
    _BODY.pack_into(
        buffer, _HEAD.size, sequence, phase, flags, 0, micro_step, step, target_step, last_save, answer, beat_at,
        phase_since, sequence,
    )  # fmt: skip


def read_beat(data: bytes) -> Optional[Beat]:
    """Read a beat; None when the bytes are torn, too few, or no beat at all."""
    if len(data) < BEAT_BYTES:
        return None
    magic, rank, local_rank, world_size, pid, started_at = _HEAD.unpack_from(data, 0)
    first, phase, flags, _, micro_step, step, target_step, last_save, answer, beat_at, phase_since, last = (
        _BODY.unpack_from(data, _HEAD.size)
    )
    if magic != MAGIC or first != last:
        return None
    return Beat(
        rank=rank, local_rank=local_rank, world_size=world_size, pid=pid, started_at=started_at,
        phase=Phase(phase), flags=Flag(flags), step=step, target_step=target_step, micro_step=micro_step,
        beat_at=beat_at, phase_since=phase_since, last_save=last_save, answer=answer,
    )  # fmt: skip


class EventKind:
    """Names of the events a guard writes.

    Every event carries `time` (seconds since the epoch), `kind`, `pid`, and `rank` (null outside ranks).
    Further fields by kind:

    | kind | fields |
    |---|---|
    | ATTACHED | role (rank, launcher), world_size, local_rank, python, versions {package: version}, executable |
    | CHILD_ENDED | child (pid), code (as subprocess gives it: -9 for SIGKILL), command (first words) |
    | TRAIN_BEGAN | step, target_step, output_dir, accumulation (micro-batches a step), trainer (class name) |
    | TRAIN_ENDED | step, target_step, stopped_early, stopped_by (callback name or null) |
    | RANK_FAILED | error (type), message (first 500 characters), step |
    | SAVE_PART_DONE | path, step, world_size, files {relative name: bytes} (what lay there then) |
    | CHECKPOINT_SAVED | path, step, seconds |
    | SAVE_FAILED | path, step, file (or null), reason, free_bytes (or null), again_at (step or null) |
    | SAVE_WAITS | path, step, needed_bytes, free_bytes, seconds (at most): the last save of a training waits for room |
    | RETENTION_DUE | path (the new checkpoint), step, remove [path] (once the new one is known to be sound) |
    | STOPPED_AT | step, saved (bool): a rank ends because it was asked to |
    | LOG_NOT_WRITTEN | where (a callback), reason |
    | RESUME_GIVEN | path (handed to the trainer), asked_for (what the script itself gave) |
    | STATES_RESTORED | step, kept [text], lost [text] (what could not be set back) |
    | WORKERS_STARTED | loader (train, evaluate), workers [pid], slots, start_method |
    | WORKER_DIED | loader, worker (pid), code (-9 for SIGKILL), batch (number or null), deaths_on_batch, rows [text] |
    | LOADER_REBUILT | loader, seconds,
      resent (batches sent again), note (text or null: what could not be kept) |
    | LOADER_GAVE_UP | loader, batch, rows [text], deaths_on_batch |
    | LOADER_SHRUNK, LOADER_GREW | loader, in_flight (batches), processes, free_bytes, batch_bytes, worker_bytes,
      limit (cgroup or host), limit_bytes, reason |
    | BATCH_DOES_NOT_FIT | loader, needed_bytes, free_bytes, limit, limit_bytes, rows [text] |
    | LOSS_DETACHED | step, micro_step, rows [text], tied (bool), reason (leaf, no trainable parameter) |
    | LOSS_SUMMED | factor (the shown loss is this many times too high), fixed (bool) |
    | FIX_APPLIED | name, class (identical, equivalent, altering), detail |
    | FIX_DECLINED | name, reason |
    | GUARD_DECLINED | name, reason |
    | GUARD_ERROR | where, error, message |
    """

    ATTACHED = "attached"
    CHILD_ENDED = "child_ended"
    TRAIN_BEGAN = "train_began"
    TRAIN_ENDED = "train_ended"
    RANK_FAILED = "rank_failed"
    SAVE_PART_DONE = "save_part_done"
    CHECKPOINT_SAVED = "checkpoint_saved"
    SAVE_FAILED = "save_failed"
    SAVE_WAITS = "save_waits"
    RETENTION_DUE = "retention_due"
    STOPPED_AT = "stopped_at"
    LOG_NOT_WRITTEN = "log_not_written"
    RESUME_GIVEN = "resume_given"
    STATES_RESTORED = "states_restored"
    WORKERS_STARTED = "workers_started"
    WORKER_DIED = "worker_died"
    LOADER_REBUILT = "loader_rebuilt"
    LOADER_GAVE_UP = "loader_gave_up"
    LOADER_SHRUNK = "loader_shrunk"
    LOADER_GREW = "loader_grew"
    BATCH_DOES_NOT_FIT = "batch_does_not_fit"
    LOSS_DETACHED = "loss_detached"
    LOSS_SUMMED = "loss_summed"
    FIX_APPLIED = "fix_applied"
    FIX_DECLINED = "fix_declined"
    GUARD_DECLINED = "guard_declined"
    GUARD_ERROR = "guard_error"


REMEDY_CLASSES: Tuple[str, ...] = ("identical", "equivalent", "altering")
