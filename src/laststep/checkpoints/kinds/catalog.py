"""Which kinds of checkpoints are judged?"""

from collections.abc import Callable, Iterator

from laststep.checkpoints.contents import ReadCheckpoint
from laststep.checkpoints.kinds import adapter, deepspeed, distributed, full_model, trainer
from laststep.records.checkpoint import Problem

# Each has its say about every checkpoint, and says nothing where it has no business.
KINDS: tuple[Callable[[ReadCheckpoint], Iterator[Problem]], ...] = (
    trainer.judge,
    adapter.judge,
    full_model.judge,
    deepspeed.judge,
    distributed.judge,
)
