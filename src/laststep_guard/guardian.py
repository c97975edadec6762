"""What does every hook of the guard have at hand?"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable, Deque, Dict, List, Optional

from laststep_guard.emit import Emitter
from laststep_guard.guards.heartbeat import Heartbeat
from laststep_guard.guards.resume_states import Resume
from laststep_guard.patches import Patches
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield
from laststep_guard.watch_imports import ImportWatch


@dataclass
class TrainingState:
    """What the hooks know of the training at this moment."""

    step: int = 0
    target_step: int = 0
    micro_step: int = 0
    accumulation: int = 1  # micro-batches an optimiser step
    world_size: int = 1
    local_world_size: int = 1  # ranks on this machine, which share its memory
    wants_memory_samples: bool = False
    own_bytes_in_step: int = 0  # private memory of this process at the fullest moment of the step
    is_saving: bool = False
    save: Optional["Save"] = None  # the one that this rank is in, or was in last
    is_evaluating: bool = False
    # Index batches that training loaders handed over and the trainer has not yet trained on, oldest first.
    handed_over: Deque["Rows"] = field(default_factory=deque)
    rows_by_batch: Dict[int, "Rows"] = field(default_factory=dict)  # id of a micro-batch -> its rows
    current_rows: Optional["Rows"] = None  # of the micro-batch being trained on
    describe_row: Optional[Callable[[Any, Any], Optional[str]]] = None  # (data set, index) -> text, set by a framework
    at_train_begin: List[Callable[[Any], None]] = field(default_factory=list)  # called with the trainer
    is_save_due: List[Callable[[Any], bool]] = field(default_factory=list)  # asked with the trainer, at each step's end
    before_save: List[Callable[..., None]] = field(
        default_factory=list
    )  # called with the trainer, has_last_failed=bool
    after_failed_save: List[Callable[[Any], None]] = field(default_factory=list)  # with the trainer, when all have left
    before_forward: List[Callable[[Any], None]] = field(default_factory=list)  # called with the model; must not raise
    position: Any = None  # where the trainer is in its data; see torch_positions.py
    evaluations: List[Any] = field(default_factory=list)  # weak references to loaders that outlive an evaluation
    resume: Optional[Resume] = None  # what this rank goes on from
    load_random_states: Optional[Callable[[], None]] = None  # set back those of this process, once, at the right moment
    has_failed_child: bool = False  # in a launcher: a child ended of itself, and not well
    is_stopping: bool = False  # this rank ends because it was asked to
    trainer: Any = None  # the one that trains at this moment
    stopped_by: Optional[str] = None  # what asked for an early stop


@dataclass
class Save:
    """A save, and whether all its files could be written."""

    path: str
    step: int
    is_again: bool = False  # the one before failed, and this one stands in for it
    failed_file: Optional[str] = None
    reason: Optional[str] = None  # why a file could not be written; None: all is well

    @property
    def has_failed(self) -> bool:
        return self.reason is not None


@dataclass(frozen=True)
class Rows:
    """Which rows of a data set a batch was made of."""

    dataset: Any
    indices: Any  # a list of indices, one index, or None for an iterable data set


@dataclass
class Guardian:
    """The guard of one process: its orders, its way out, and everything it changed. Made once, by `attach.py`."""

    settings: Settings
    emitter: Emitter
    shield: Shield
    rank: Optional[int]
    is_rank: bool = False  # it has opened its beat
    patches: Patches = field(default_factory=Patches)
    imports: ImportWatch = field(default_factory=ImportWatch)
    state: TrainingState = field(default_factory=TrainingState)
    heartbeat: Heartbeat = field(default_factory=Heartbeat)

    def emit(self, kind: str, **fields: Any) -> None:
        """Report a fact; see `wire.EventKind` for the fields of each kind."""
        self.emitter.emit(kind, **fields)

    def describe(self, rows: Optional[Rows]) -> List[str]:
        """Name the rows of a batch for people, one text a row."""
        if rows is None or rows.indices is None:
            return []
        indices = rows.indices if isinstance(rows.indices, (list, tuple)) else [rows.indices]
        return [self._describe_one(rows.dataset, index) for index in indices]

    def _describe_one(self, dataset: Any, index: Any) -> str:
        described = None
        if self.state.describe_row is not None:
            described = self.shield.wrap("describe a row", self.state.describe_row)(dataset, index)
        return described or f"row {index}"
