"""How are loader workers killed while a run goes on, at moments that matter?

Their numbers come from the guards' events and from the rank's living children, the moments from the beats: nobody
else's process is ever hit.
"""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from laststep.demo.trace import RunTrace
from laststep.records.text import Text
from laststep_guard import wire

_AT_STEP = Text(en="step {step}", zh="第 {step} 步")
_DURING = Text(en="during {phase}", zh="{phase} 期间")


@dataclass(frozen=True, slots=True)
class Occasion:
    """A moment at which workers are to be killed."""

    name: Text
    is_now: Callable[[wire.Beat], bool]
    rank: int = 0
    loader: str = "train"
    victims: int = 1


@dataclass(frozen=True, slots=True)
class Kill:
    """A worker that was killed."""

    time: float  # seconds since the epoch
    occasion: Text
    worker: int
    rank: int
    step: int
    phase: wire.Phase


class WorkerKiller:
    """Waits for one occasion after the other, in order, and kills."""

    def __init__(self, occasions: Sequence[Occasion], now: Callable[[], float]) -> None:
        self._trace: RunTrace | None = None
        self._waiting = list(occasions)
        self._now = now
        self.kills: list[Kill] = []

    @property
    def missed(self) -> list[Text]:
        """Name the occasions that never came."""
        return [occasion.name for occasion in self._waiting]

    def look(self, run_folder: Path) -> None:
        """Kill if the next occasion has come; called many times a second."""
        if not self._waiting:
            return
        occasion = self._waiting[0]
        trace = self._trace = self._trace or RunTrace(run_folder)
        beat = trace.beat(occasion.rank)
        if beat is None or not occasion.is_now(beat):
            return
        victims = trace.workers(beat.pid, occasion.loader)
        if len(victims) < occasion.victims:
            return  # not started yet, or just being rebuilt
        for pid in victims[: occasion.victims]:
            os.kill(pid, signal.SIGKILL)
            self.kills.append(Kill(self._now(), occasion.name, pid, occasion.rank, beat.step, beat.phase))
        self._waiting.pop(0)


def at_step(step: int, *, rank: int = 0, victims: int = 1) -> Occasion:
    """Kill workers of the training loader as soon as a rank has come to a step."""
    return Occasion(_AT_STEP.fill(step=step), lambda beat: beat.step >= step, rank=rank, victims=victims)


def in_phase(phase: wire.Phase, *, after_step: int, loader: str = "train") -> Occasion:
    """Kill a worker while a rank is in a phase."""
    return Occasion(
        _DURING.fill(phase=phase.name.lower()),
        lambda beat: beat.phase is phase and beat.step >= after_step,
        loader=loader,
    )
