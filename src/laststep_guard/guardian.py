"""What does every hook of the guard have at hand?"""

from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional

from laststep_guard.emit import Emitter
from laststep_guard.patches import Patches
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield
from laststep_guard.watch_imports import ImportWatch


@dataclass
class Guardian:
    """The guard of one process: its orders, its way out, and everything it changed. Made once, by `attach.py`."""

    settings: Settings
    emitter: Emitter
    shield: Shield
    rank: Optional[int]
    patches: Patches = field(default_factory=Patches)
    imports: ImportWatch = field(default_factory=ImportWatch)
    state: "TrainingState" = field(default_factory=lambda: TrainingState())

    def emit(self, kind: str, **fields: Any) -> None:
        """Report a fact; see `wire.EventKind` for the fields of each kind."""
        self.emitter.emit(kind, **fields)


@dataclass
class TrainingState:
    """What the hooks know of the training at this moment."""

    step: int = 0
    target_step: int = 0
    micro_step: int = 0
    accumulation: int = 1  # micro-batches an optimiser step
    is_saving: bool = False
    is_evaluating: bool = False
    describe_row: Optional[Callable[[Any, Any], str]] = None  # (data set, index) -> text, set by a framework
    at_train_begin: List[Callable[[Any], None]] = field(default_factory=list)  # called with the trainer
