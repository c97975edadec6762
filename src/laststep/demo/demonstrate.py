"""Does the reported run really reach its last step while its loader workers are being killed?

Two ranks, rows without negatives, dropout, and a SIGKILL for several loader workers, one of them during a save. Then
the same run undisturbed. Both must come out the same to the last bit.
"""

from collections.abc import Callable, Sequence
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
from laststep.records.text import Language, Text
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

_BUILDING = Text(
    en="building a tiny Qwen3-VL reranker and its data (once)", zh="正在构建微型 Qwen3-VL reranker 及其数据（仅一次）"
)
_DISTURBED = Text(
    en="the reported command on {ranks} ranks, with its loader workers being killed",
    zh="在 {ranks} 个 rank 上运行所报告的命令，过程中杀死数据加载进程",
)
_UNDISTURBED = Text(en="the same once more, undisturbed", zh="同样的命令再跑一遍，不加干扰")


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What was shown."""

    moments: tuple[Moment, ...]
    kills: tuple[Kill, ...]
    missed: tuple[Text, ...]  # occasions at which nothing could be killed
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


def demonstrate(  # noqa: PLR0913  # where it happens, and to whom it is told
    python: Path, *, cache: Path, work: Path, clock: Clock, say: Callable[[Text], None], language: Language
) -> Demonstration:
    """Run the reported command disturbed and undisturbed, and compare."""
    options = ("--lang", language.value)  # what the runs show may be shown again
    say(_BUILDING)
    model, data = prepare_model(python, cache), prepare_data(python, cache, DATA)

    say(_DISTURBED.fill(ranks=RANKS))
    started_at = clock.now()
    reported = _reported(python, model, data, work / "disturbed")
    disturbed, killer = _run_disturbed(reported, work / "disturbed", options, clock)
    disturbed_seconds = clock.now() - started_at
    events = RunTrace(disturbed.run_folder).events() if disturbed.run_folder is not None else ()

    say(_UNDISTURBED)
    again_at = clock.now()
    reported = _reported(python, model, data, work / "undisturbed")
    undisturbed = LaststepProcess(reported, work / "undisturbed", options=options).watch(_leave_alone, TIMEOUT_SECONDS)
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


def _run_disturbed(
    run: ReportedRun, work: Path, options: Sequence[str], clock: Clock
) -> tuple[SupervisedRun, WorkerKiller]:
    killer = WorkerKiller(OCCASIONS, clock.now)
    finished = LaststepProcess(run, work, options=options).watch(killer.look, TIMEOUT_SECONDS)
    return finished, killer


def _leave_alone(_run_folder: Path) -> None:
    """Do nothing to a run."""
