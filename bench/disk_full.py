"""Does a training get to its end while its disk is full?

The output folder lies on a small file system of its own. Somebody fills it after two saves and makes room again after
some have failed, or only when the last one waits for it; or it is too small for what the user wants to keep. Without
laststep the first save that finds no room ends the training. Needs root, to mount.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import DOCUMENTS_FIX_OFF, PROJECT, Bench, read_run_events, run_bench, run_stock, run_supervised
from laststep.demo.reported_command import ReportedRun
from laststep.demo.run_laststep import LaststepProcess, SupervisedRun
from laststep.demo.trace import RunTrace
from laststep.records.event import OwnEventKind
from laststep_guard.wire import MANIFEST_NAME, EventKind

DATA = ("--positives", "1-2", "--negatives", "4-4")
FLAGS = (
    "--lora_dropout",
    "0.05",
    "--save_steps",
    "3",
    "--eval_strategy",
    "no",
    "--logging_steps",
    "1",
    "--lora_rank",
    "64",
)
ENVIRONMENT = {"MAX_NEGATIVE_SAMPLES": "2"}
PLAIN = PROJECT / "bench" / "plain_trainer.py"
FAILURES = 3  # steps whose saves fail before there is room again
LEAST_BYTES = 1 << 20  # what a checkpoint holds at least


@dataclass(frozen=True, slots=True)
class Case:
    """A training, and what becomes of its disk."""

    name: str
    holds: float  # so many checkpoints at once
    ranks: int = 1
    flags: Sequence[str] = FLAGS
    is_filled: bool = True  # by somebody else, after two saves
    is_freed_late: bool = False  # only once the last save waits
    is_plain: bool = False
    rows: int = 60  # a rank


ZERO_2 = ("--deepspeed", "zero2", "--torch_dtype", "bfloat16")
LIMIT = ("--save_total_limit", "2")
SLOW = (
    "--gradient_accumulation_steps",
    "16",
)  # there is time to seal a checkpoint before the next, as in real trainings
CASES = (
    Case("one rank", 20),
    Case("two ranks", 25, 2, rows=100),
    Case("DeepSpeed ZeRO-2", 20, 2, (*FLAGS, *ZERO_2)),
    Case("plain transformers", 20, flags=(), is_plain=True),
    Case("full until the last save", 20, 2, is_freed_late=True),
    Case("too small for the limit", 2.5, flags=(*FLAGS, *LIMIT, *SLOW), rows=480, is_filled=False),
)


@dataclass(slots=True)
class Disk:
    """A small disk, somebody who fills it, and somebody who looks after the last sound checkpoint."""

    place: Path
    case: Case
    checkpoint_bytes: int
    filled: bool = False
    lost_at: list[int] = field(default_factory=list)  # how many sound ones there had been when none was left
    most_sound: int = 0

    @property
    def filler(self) -> Path:
        return self.place / "filler"

    def look(self, _laststep: LaststepProcess | None, folder: Path) -> None:
        """Fill, free, and count what is sealed."""
        events = RunTrace(folder).events()
        saved = {event.fields["step"] for event in events if event.kind == EventKind.CHECKPOINT_SAVED}
        failed = {event.fields["step"] for event in events if event.kind == EventKind.SAVE_FAILED}
        waits = any(event.kind == EventKind.SAVE_WAITS for event in events)
        sealed = list_sealed(self.place)
        self.most_sound = max(self.most_sound, len(sealed))
        if self.most_sound and not sealed:
            self.lost_at.append(self.most_sound)
        self.filled = self.case.is_filled and (self.filled or (len(saved) >= 2 and len(sealed) >= 2))
        if self.filled and (waits if self.case.is_freed_late else len(failed) >= FAILURES):
            self.filler.unlink(missing_ok=True)
        elif self.filled:
            self.fill()  # again and again: what is let go of is room as well

    def fill(self) -> None:
        """Take all room but a third of a checkpoint."""
        place = os.statvfs(self.place)
        more = place.f_bavail * place.f_frsize - self.checkpoint_bytes // 3
        if more > 0:
            with contextlib.suppress(OSError), self.filler.open("ab") as file:
                os.posix_fallocate(file.fileno(), file.tell(), more)


@contextlib.contextmanager
def small_disk(place: Path, size: int) -> Iterator[Path]:
    """Mount a file system of so many bytes."""
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def measure(bench: Bench) -> None:
    if os.geteuid() != 0:
        raise SystemExit("A small file system is mounted, which needs root; run this bench in a container of your own.")
    for case in CASES:
        if bench.only in (None, case.name):
            bench.say(f"  {case.name}")
            measure_case(bench, case)


def measure_case(bench: Bench, case: Case) -> None:
    free = describe(bench, case, "undisturbed")
    stock = run_stock(free)
    size = measure_checkpoint(free.output_dir)
    bench.claim("undisturbed, it ends with 0", holds=stock.exit_code == 0 and size > LEAST_BYTES,
                figure=f"{stock.exit_code}, a checkpoint holds {size / 2**20:.1f} MiB")  # fmt: skip
    full = describe(bench, case, "stock")
    # For stock the disk is as small from the beginning as it becomes for us.
    with small_disk(full.output_dir, int(min(case.holds, 2.5) * size)):
        died = run_stock(full)
    bench.claim("without laststep the training ends with the save that finds no room",
                holds=died.exit_code not in (0, None), figure=died.exit_code)  # fmt: skip
    ours = describe(bench, case, "guarded")
    with small_disk(ours.output_dir, int(case.holds * size)) as place:
        disk = Disk(place, case, size)
        seen = run_supervised(ours, options=DOCUMENTS_FIX_OFF, look=disk.look)
        judge(bench, case, disk, seen, stock.trained.losses)
        left = list_sealed(place)
    bench.claim("a sound checkpoint is left", holds=bool(left), figure=left)


def judge(bench: Bench, case: Case, disk: Disk, seen: SupervisedRun, losses: Sequence[float]) -> None:
    failures = read_run_events(seen, EventKind.SAVE_FAILED)
    steps = sorted({event.fields["step"] for event in failures})
    wanted = f"at least {FAILURES} saves failed" if case.is_filled else "room is made before a save, and none fails"
    bench.claim(wanted, holds=len(steps) >= FAILURES if case.is_filled else not steps,
                figure=f"at {steps}: {sorted({event.fields['reason'] for event in failures})}")  # fmt: skip
    ended = read_run_events(seen, EventKind.TRAIN_ENDED)
    made = [(event.fields["step"], event.fields["target_step"]) for event in ended[: case.ranks]]
    began = read_run_events(seen, EventKind.TRAIN_BEGAN)
    bench.claim("the first attempt made all steps",
                holds=len(made) == case.ranks and all(steps == target for steps, target in made)
                and ended[0].time < min([event.time for event in began[case.ranks :]], default=float("inf")),
                figure=made)  # fmt: skip
    bench.claim("a sound checkpoint was there throughout", holds=disk.most_sound > 0 and not disk.lost_at,
                figure=f"up to {disk.most_sound}, none left {len(disk.lost_at)} times")  # fmt: skip
    bench.claim("it ends with 0", holds=seen.exit_code == 0, figure=seen.exit_code)
    bench.claim("the losses are those of an undisturbed run", holds=seen.trained.losses == losses or case.is_plain,
                figure=f"{len(seen.trained.losses)} and {len(losses)}")  # fmt: skip
    saved = [event.fields["step"] for event in read_run_events(seen, EventKind.CHECKPOINT_SAVED)]
    bench.claim("it saves again when there is room", holds=bool(saved) and max(saved) == made[0][1], figure=saved)
    gone = [event.fields["paths"] for event in read_run_events(seen, OwnEventKind.CHECKPOINTS_REMOVED)]
    bench.say(f"       let go of by the limit: {sum(map(len, gone))}")
    if seen.exit_code != 0:
        bench.show_end(seen.output)


def list_sealed(output: Path) -> list[str]:
    """Name the sealed checkpoints of an output folder that others remove from at the same time."""
    return sorted(
        path.name for folder in (".", "v*-*") for path in output.glob(f"{folder}/checkpoint-*") if is_sealed(path)
    )


def is_sealed(checkpoint: Path) -> bool:
    return (checkpoint / MANIFEST_NAME).exists()


def describe(bench: Bench, case: Case, name: str) -> ReportedRun:
    program = (str(bench.python()), str(PLAIN)) if case.is_plain else ()
    data = ("--rows", str(case.rows * case.ranks), *DATA)
    run = bench.reported(f"{case.name} {name}", data, ranks=case.ranks, flags=case.flags)
    return replace(run, environment=ENVIRONMENT, program=program)


def measure_checkpoint(output: Path) -> int:
    sizes = [
        sum(path.stat().st_size for path in checkpoint.rglob("*") if path.is_file())
        for checkpoint in output.rglob("checkpoint-*")
        if checkpoint.is_dir()
    ]
    return max(sizes, default=0)


if __name__ == "__main__":
    run_bench("The disk is full while a training saves", measure)
