"""Which checkpoints may go?"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from laststep.records.checkpoint import CheckedCheckpoint, Soundness
from laststep.records.errors import CheckpointError
from laststep.records.text import Text

_KEEP_NONE = Text(
    en="keep={keep} would remove the last sound checkpoint; keep at least 1.",
    zh="keep={keep} 会删除最后一个完好的检查点；至少保留 1 个。",
)
_NOT_REMOVED = Text(en="{path} could not be removed: {reason}", zh="无法删除 {path}：{reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What would go and what would stay, newest first."""

    removed: tuple[CheckedCheckpoint, ...]
    kept: tuple[CheckedCheckpoint, ...]

    @property
    def freed_bytes(self) -> int:
        return sum(checked.size_bytes for checked in self.removed)


def plan_pruning(checked: Sequence[CheckedCheckpoint], *, keep: int) -> Pruning:
    """Keep the newest sound ones, and whatever could not be judged.

    Only sound ones count. Without a sound one nothing goes: what is there may be all that is left. One that may be
    being written stays.
    """
    if keep < 1:
        raise CheckpointError(_KEEP_NONE.fill(keep=keep))
    sound = [one for one in checked if one.soundness is Soundness.SOUND]
    staying = {one.path for one in sound[:keep]}
    staying |= {one.path for one in checked if one.soundness is Soundness.UNKNOWN or not sound}
    return Pruning(
        removed=tuple(one for one in checked if one.path not in staying),
        kept=tuple(one for one in checked if one.path in staying),
    )


def remove_checkpoints(checked: Iterable[CheckedCheckpoint]) -> None:
    """Remove checkpoints, the oldest first, so that whatever comes in between leaves the newest."""
    for one in reversed(tuple(checked)):
        path = Path(one.path)
        try:
            if path.is_symlink():
                path.unlink()  # what it leads to is not this run's
            else:
                shutil.rmtree(path)
        except OSError as error:
            raise CheckpointError(_NOT_REMOVED.fill(path=path, reason=error.strerror or error)) from error
