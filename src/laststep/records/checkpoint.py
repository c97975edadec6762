"""What is a checkpoint worth?"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laststep.records.text import Text


class Soundness(enum.Enum):
    """Can a run be resumed from it?"""

    SOUND = "sound"
    UNSOUND = "unsound"
    UNKNOWN = "unknown"  # could not be looked at: never treated as sound


class ProblemKind(enum.Enum):
    """Kinds of things that are wrong with a checkpoint."""

    MISSING = "missing"  # a file this kind of run needs is not there
    TORN = "torn"  # shorter or longer than its own header says, or cut off
    CHANGED = "changed"  # its size or content hash is not the one in the manifest
    ZERO_FILLED = "zero-filled"
    LFS_POINTER = "lfs-pointer"  # the pointer of Git LFS stands where the file should be
    HTML_PAGE = "html-page"  # an error page was downloaded in place of the file
    WRONG_STEP = "wrong-step"
    WRONG_WORLD_SIZE = "wrong-world-size"
    WRONG_SHAPE = "wrong-shape"
    STALE_POINTER = "stale-pointer"  # `latest` or an index names something that is not there
    MALICIOUS = "malicious"  # a pickle that would call something unexpected
    NOT_FINITE = "not-finite"
    MARKED_INCOMPLETE = "marked-incomplete"  # whoever wrote it says that it is not whole
    UNREADABLE = "unreadable"  # permissions, I/O errors, a format nobody knows
    BEING_WRITTEN = "being-written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, in which file (relative to the checkpoint; None: the whole)."""

    kind: ProblemKind
    file: str | None
    words: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCheckpoint:
    """A checkpoint that was looked at."""

    path: str
    step: int | None
    soundness: Soundness
    is_sealed: bool  # content hashes were there and agree
    problems: tuple[Problem, ...] = ()
    run_id: str | None = None  # of the run that sealed it
    world_size: int | None = None
    tuner: str | None = None  # lora, full, …
    base_model: str | None = None
    size_bytes: int = 0
    saved_at: float | None = None  # seconds since the epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveFacts:
    """What the run knows about a save, for its manifest; None: not known."""

    run_id: str | None = None
    step: int | None = None
    world_size: int | None = None
    tuner: str | None = None  # lora, full, …
    base_model: str | None = None
    data_position: Mapping[str, Any] | None = None
    random_states: Mapping[str, Any] = field(default_factory=dict)  # by rank, as the guard wrote them
