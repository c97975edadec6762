"""Does the reported run really reach its last step while its loader workers are being killed?

Two ranks, rows without negatives, dropout, and a SIGKILL for several loader workers, one of them during a save. Then
the same run undisturbed. Both must come out the same to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from laststep.demo.kill_workers import Kill, WorkerKiller, at_step, in_phase
from laststep.demo.prepare_kit import prepare_data, prepare_model
from laststep.demo.reported_command import ReportedRun
from laststep.demo.run_laststep import LaststepProcess, SupervisedRun
from laststep.demo.timeline import Moment, tell_timeline
from laststep.demo.trace import RunTrace
from laststep.demo.trained import have_same_tensors
from laststep.host.clock import Clock
from laststep_guard.wire import Phase

RANKS = 2
DATA = ("--rows", "60", "--no-negative-every", "5")
DROPOUT = ("--lora_dropout", "0.05")  # without it an inexact loader could go unnoticed
TIMEOUT_SECONDS = 170.0
OCCASIONS = (
    at_step(2),
    at_step(4, rank=1, victims=2),
    in_phase(Phase.SAVE, after_step=5),
    at_step(8, rank=1),
    at_step(11, victims=2),
)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What was shown."""

    moments: tuple[Moment, ...]
    kills: tuple[Kill, ...]
    missed: tuple[str, ...]  # occasions at which nothing could be killed
    disturbed: SupervisedRun
    undisturbed: SupervisedRun
    disturbed_seconds: float
    undisturbed_seconds: float
    has_same_adapter: bool  # compared at once: the runs' folders may be gone when this is read

    @property
    def has_same_losses(self) -> bool:
        losses = self.disturbed.trained.losses
        return bool(losses) and losses == self.undisturbed.trained.losses

    @property
    def is_proven(self) -> bool:
        """True when workers died, both runs reached their end, and nothing tells them apart."""
        ended_well = self.disturbed.exit_code == 0 == self.undisturbed.exit_code
        return bool(self.kills) and not self.missed and ended_well and self.has_same_losses and self.has_same_adapter


def demonstrate(python: Path, *, cache: Path, work: Path, clock: Clock, say: Callable[[str], None]) -> Demonstration:
    """Run the reported command disturbed and undisturbed, and compare."""
    say("building a tiny Qwen3-VL reranker and its data (once)")
    model, data = prepare_model(python, cache), prepare_data(python, cache, DATA)

    say(f"the reported command on {RANKS} ranks, with its loader workers being killed")
    started_at = clock.now()
    disturbed, killer = _run_disturbed(_reported(python, model, data, work / "disturbed"), work / "disturbed", clock)
    disturbed_seconds = clock.now() - started_at
    events = RunTrace(disturbed.run_folder).events() if disturbed.run_folder is not None else ()

    say("the same once more, undisturbed")
    again_at = clock.now()
    again = LaststepProcess(_reported(python, model, data, work / "undisturbed"), work / "undisturbed")
    undisturbed = again.watch(lambda _: None, TIMEOUT_SECONDS)
    return Demonstration(
        moments=tell_timeline(events, killer.kills, started_at),
        kills=tuple(killer.kills),
        missed=tuple(killer.missed),
        disturbed=disturbed,
        undisturbed=undisturbed,
        disturbed_seconds=disturbed_seconds,
        undisturbed_seconds=clock.now() - again_at,
        has_same_adapter=have_same_tensors(disturbed.trained.adapter, undisturbed.trained.adapter),
    )


def _reported(python: Path, model: Path, data: Path, work: Path) -> ReportedRun:
    return ReportedRun(python, model, data, work / "output", ranks=RANKS, flags=DROPOUT)


def _run_disturbed(run: ReportedRun, work: Path, clock: Clock) -> tuple[SupervisedRun, WorkerKiller]:
    killer = WorkerKiller(OCCASIONS, clock.now)
    finished = LaststepProcess(run, work).watch(killer.look, TIMEOUT_SECONDS)
    return finished, killer
