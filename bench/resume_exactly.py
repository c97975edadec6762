"""Does a run that is killed twenty times end with the weights it would have had?

SIGKILL to a rank, to the trainer's whole family, or to laststep and everything with it, at random moments in steps,
saves, evaluations and starts. Where laststep lives it goes on by itself, else the same command is typed again. Each
kill comes after a new checkpoint and at least one further step.
"""

import os
import random
import signal
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import PROJECT, Bench, run_bench
from laststep.demo.reported_command import ReportedRun
from laststep.demo.run_laststep import LaststepProcess, SupervisedRun
from laststep.demo.trace import RunTrace
from laststep.demo.trained import have_same_tensors
from laststep.host.clock import SystemClock
from laststep.host.processes import find_descendants, is_alive
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events, read_object
from laststep.records.event import OwnEventKind
from laststep_guard.wire import Beat, EventKind, Phase

DOCUMENTS = ("--positives", "1-2", "--negatives", "4-4")
FLAGS = (
    *("--lora_dropout", "0.05", "--save_steps", "3", "--eval_steps", "6", "--logging_steps", "2"),
    *("--save_total_limit", "4"),
)
ENVIRONMENT = {"MAX_NEGATIVE_SAMPLES": "2"}  # of 4, so that they are drawn
# As often as each is wanted: a rank alone, the trainer with all it started, laststep as well.
TARGETS = ("rank", "rank", "family", "everything")
PHASES = (Phase.STEP, Phase.STEP, Phase.SAVE, Phase.STEP, Phase.EVALUATE)
TIMEOUT_SECONDS = 1800.0
MOST_LAUNCHES = 60


@dataclass(frozen=True, slots=True)
class Case:
    """A way to train."""

    name: str
    ranks: int = 1
    flags: Sequence[str] = FLAGS
    rows: int = 300  # a rank
    kills: int = 20
    is_plain: bool = False  # transformers' Trainer in a script of its own, all weights


PLAIN = PROJECT / "bench" / "plain_trainer.py"
ZERO_2 = ("--deepspeed", "zero2", "--torch_dtype", "bfloat16", "--lora_bias", "all")
CASES = (
    Case("one rank"),
    Case("two ranks", 2),
    Case("plain transformers", flags=(), is_plain=True),
    Case("DeepSpeed ZeRO-2", 2, (*FLAGS, *ZERO_2)),
    Case("no workers", flags=(*FLAGS, "--dataloader_num_workers", "0"), rows=60, kills=3),
    Case("a few kills", rows=60, kills=3),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A kill that found a living run."""

    target: str
    phase: Phase
    attempt: int
    step: int
    checkpoint: int  # the newest saved before it, in this attempt

    def __str__(self) -> str:
        return f"{self.target} in {self.phase.name.lower()} at {self.step} (checkpoint {self.checkpoint})"


@dataclass(slots=True)
class RunKiller:
    """Hits a run again and again, each time when it has come further."""

    most: int
    chance: random.Random
    hits: list[Hit] = field(default_factory=list)
    _phase: Phase = Phase.STEP
    _due_at: float | None = None

    def look(self, laststep: LaststepProcess, folder: Path) -> None:
        """Kill if the moment has come; called many times a second."""
        attempts = RunFolder(folder).attempts()
        if len(self.hits) >= self.most or not attempts:
            return
        place = attempts[-1]
        number = int(place.path.name)
        if self.hits and number <= self.hits[-1].attempt:
            return
        trace = RunTrace(folder, number)
        beat = trace.beat(0)
        if beat is None or not is_alive(beat.pid) or not self._is_now(trace, beat):
            return
        saved = newest_save(trace)
        target = self.chance.choice(TARGETS)
        holder = int(read_object(place.holder).get("pid", 0))
        if strike(target, laststep, holder, self.chance):
            self.hits.append(Hit(target, beat.phase, number, beat.step, saved))
        self._phase, self._due_at = self.chance.choice(PHASES), None

    def _is_now(self, trace: RunTrace, beat: Beat) -> bool:
        """Tell whether the run has saved, made a step since, and come to the phase that is wanted."""
        now = SystemClock().monotonic()
        if self._due_at is not None:
            return now >= self._due_at
        saved = newest_save(trace)
        if not saved or beat.step <= saved or beat.phase is not self._phase:
            return False
        # Somewhere within a step; a save and an evaluation are short, and are hit as soon as they are seen.
        self._due_at = now + (
            self.chance.uniform(0, 0.5) if self._phase is Phase.STEP else self.chance.uniform(0, 0.02)
        )
        return False


def newest_save(trace: RunTrace) -> int:
    saves = [event for event in trace.events() if event.kind == EventKind.CHECKPOINT_SAVED]
    return max((int(event.fields["step"]) for event in saves), default=0)


def strike(target: str, laststep: LaststepProcess, holder: int, chance: random.Random) -> bool:
    """Kill with SIGKILL; True when somebody was hit."""
    if not holder or not is_alive(holder):
        return False
    below = find_descendants(holder)
    if target == "rank":
        ranks = [process.pid for process in below if is_rank(process.pid)]
        return bool(ranks) and kill([chance.choice(ranks)])
    pids = [process.pid for process in below]
    if target == "everything":
        pids = [laststep.process.pid, holder, *pids]
    return kill(pids)


def is_rank(pid: int) -> bool:
    """Tell a trainer from its launchers, and from the workers it forked."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        is_forked = words == Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return False
    trains = b"swift/cli/sft.py" in words or b"plain_trainer.py" in words
    return trains and b"torch.distributed" not in words and not is_forked


def kill(pids: Sequence[int]) -> bool:
    hit = False
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            hit = True
        except ProcessLookupError:  # noqa: PERF203  # each is tried, whatever became of the others
            continue
    return hit


def run_to_the_end(run: ReportedRun, killer: RunKiller) -> SupervisedRun:
    """Type the command again as often as it is killed together with laststep."""
    for _ in range(MOST_LAUNCHES):
        laststep = LaststepProcess(run, run.output_dir.parent)
        seen = laststep.watch(lambda folder: killer.look(laststep, folder), TIMEOUT_SECONDS)  # noqa: B023  # used at once
        if seen.exit_code != -signal.SIGKILL:
            break
    return seen


def list_resumes(folder: Path) -> Iterator[int]:
    """List the steps that attempts after the first went on from; 0 for one that began anew."""
    for event in read_events(RunFolder(folder)):
        if event.kind == OwnEventKind.ATTEMPT_STARTED and event.fields["attempt"] > 1:
            yield int(event.fields.get("resumed_from_step") or 0)


def read_torch_file(path: Path) -> dict[str, bytes]:
    """Read what a torch file holds, without the folder name inside it."""
    with zipfile.ZipFile(path) as file:
        return {name.partition("/")[2]: file.read(name) for name in file.namelist()}


@dataclass(frozen=True, slots=True)
class Final:
    """What the last checkpoint of a run holds."""

    weights: Path | None
    optimizer: Path | None
    losses: Sequence[float]


def read_final(run: ReportedRun) -> Final:
    """Read the last checkpoint of the newest launch."""
    folder = max(run.output_dir.glob("v*-*"), default=run.output_dir)
    last = max(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]), default=folder)
    state = read_object(last / "trainer_state.json")
    weights = [last / name for name in ("adapter_model.safetensors", "model.safetensors") if (last / name).exists()]
    optimizer = last / "optimizer.pt"
    return Final(
        weights=weights[0] if weights else None,
        optimizer=optimizer if optimizer.exists() else None,
        losses=[entry["loss"] for entry in state.get("log_history", ()) if "loss" in entry],
    )


def compare(bench: Bench, ours: Final, theirs: Final) -> None:
    same = have_same_tensors(ours.weights, theirs.weights)
    bench.claim("the final weights are bit-identical", holds=same, figure=same)
    if ours.optimizer is not None and theirs.optimizer is not None:  # DeepSpeed keeps its own, which the weights show
        same = read_torch_file(ours.optimizer) == read_torch_file(theirs.optimizer)
        bench.claim("the final optimisers are bit-identical", holds=same, figure=same)
    bench.claim(
        "the logged losses are bit-identical", holds=bool(ours.losses) and ours.losses == theirs.losses,
        figure=f"{len(ours.losses)} and {len(theirs.losses)}, the last {ours.losses[-1] if ours.losses else None}",
    )  # fmt: skip


def measure(bench: Bench) -> None:
    for case in CASES:
        if bench.only in (None, case.name):
            bench.say(f"  {case.name}")
            measure_case(bench, case)


def measure_case(bench: Bench, case: Case) -> None:
    data, kills = ("--rows", str(case.rows * case.ranks), *DOCUMENTS), case.kills
    program = (str(bench.python()), str(PLAIN)) if case.is_plain else ()
    runs = [
        replace(
            bench.reported(f"{case.name} {name}", data, ranks=case.ranks, flags=case.flags),
            environment=ENVIRONMENT,
            program=program,
        )
        for name in ("undisturbed", "control", "killed")
    ]
    for run in runs[:2]:
        run_to_the_end(run, RunKiller(0, random.Random(0)))
    same = have_same_tensors(read_final(runs[0]).weights, read_final(runs[1]).weights)
    bench.claim("two undisturbed runs are bit-identical", holds=same, figure=same)
    killer = RunKiller(kills, random.Random(1))
    killed = run_to_the_end(runs[2], killer)
    bench.claim(f"it was killed {kills} times", holds=len(killer.hits) == kills,
                figure=f"{len(killer.hits)}: {'; '.join(map(str, killer.hits))}")  # fmt: skip
    bench.claim("it ends with 0", holds=killed.exit_code == 0, figure=killed.exit_code)
    resumed = list(list_resumes(killed.run_folder)) if killed.run_folder else []
    bench.claim(
        "it went on from a checkpoint each time",
        holds=len(resumed) >= len(killer.hits) and all(resumed),
        figure=resumed,
    )
    verdicts = [resume["exactness"] for resume in killed.report.get("resumes", ())]
    bench.claim("no resume is called approximate", holds="approximate" not in verdicts, figure=verdicts)
    compare(bench, read_final(runs[2]), read_final(runs[0]))
    if killed.exit_code != 0:
        bench.show_end(killed.output)


if __name__ == "__main__":
    run_bench("A run is killed again and again", measure)
