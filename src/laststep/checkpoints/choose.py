"""From which checkpoint does a run go on?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from laststep.checkpoints.find import find_checkpoints
from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import CheckedCheckpoint, Soundness
from laststep.records.errors import CheckpointError

Verify = Callable[[Path], CheckedCheckpoint]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The newest sound checkpoint, and those that are newer and not sound."""

    chosen: CheckedCheckpoint | None
    skipped: tuple[CheckedCheckpoint, ...] = ()  # with their problems, newest first
    of_other_runs: tuple[CheckedCheckpoint, ...] = ()  # sealed by another run than the one asked for

    @property
    def lost_steps(self) -> int | None:
        """Give how many steps further the newest of the skipped was; None where no step is known."""
        steps = [checked.step for checked in self.skipped if checked.step is not None]
        if not steps:
            return None if self.skipped else 0
        reached = self.chosen.step if self.chosen is not None else 0
        return None if reached is None else max(0, max(steps) - reached)


def choose_checkpoint(
    paths: Path | Iterable[Path], *, run_id: str | None = None, verify: Verify = verify_checkpoint
) -> Choice:
    """Take the first of the paths, newest first, that is sound; with a run id, none that another run sealed.

    Paths: an output folder, or what `find_checkpoints` gives. Verification stops at the first sound one.
    """
    skipped: list[CheckedCheckpoint] = []
    others: list[CheckedCheckpoint] = []
    for path in find_checkpoints(paths) if isinstance(paths, Path) else paths:
        try:
            checked = verify(path)
        except CheckpointError:  # deleted meanwhile, by the run's own rotation
            continue
        if run_id is not None and checked.run_id not in {None, run_id}:
            others.append(checked)
        elif checked.soundness is Soundness.SOUND:
            return Choice(chosen=checked, skipped=tuple(skipped), of_other_runs=tuple(others))
        else:
            skipped.append(checked)
    return Choice(chosen=None, skipped=tuple(skipped), of_other_runs=tuple(others))
