"""Does a run that is told to stop save first, on all ranks at one step, and go on exactly?

SIGTERM at random moments after the first step, to laststep, to the ranks, or by `laststep stop`, again and again. Each
time all ranks save at one step and leave; laststep ends with 143, and what it prints is typed next. Where only the
ranks were told, laststep goes on by itself. There are no other saves, so nothing else can be gone on from. At the end
the weights are those of an undisturbed run.
"""

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import Bench, run_bench
from laststep.demo.run_laststep import LaststepProcess, SupervisedRun
from laststep.demo.trace import RunTrace
from laststep.host.clock import SystemClock
from laststep.host.processes import find_descendants, is_alive
from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_events, read_object
from laststep_guard.wire import EventKind
from resume_exactly import DOCUMENTS, ENVIRONMENT, ZERO_2, compare, is_rank, list_resumes, read_final

FLAGS = (
    *("--lora_dropout", "0.05", "--save_steps", "1000", "--eval_steps", "6", "--logging_steps", "1"),
    *("--save_total_limit", "3"),
)
TARGETS = ("laststep", "laststep", "stop", "ranks")
GRACE_SECONDS = 30.0
TIMEOUT_SECONDS = 1800.0
MOST_LAUNCHES = 60
LASTSTEP = (sys.executable, "-c", "from laststep.cli.main import main; main()")


@dataclass(frozen=True, slots=True)
class Case:
    """A way to train."""

    name: str
    ranks: int = 2
    flags: Sequence[str] = FLAGS
    rows: int = 260  # a rank
    stops: int = 20


CASES = (
    Case("two ranks"),
    Case("DeepSpeed ZeRO-2", flags=(*FLAGS, *ZERO_2)),
    Case("one rank", 1),
    Case("a few stops", rows=140, stops=4),
)


@dataclass(slots=True)
class RunStopper:
    """Tells a run to stop, again and again."""

    most: int
    chance: random.Random
    stopped: list[str] = field(default_factory=list)  # whom it told, and at which step
    _attempt: int = 0
    _due_at: float | None = None

    def look(self, laststep: "subprocess.Popen[bytes]", folder: Path) -> None:
        """Strike if the moment has come; called many times a second."""
        attempts = RunFolder(folder).attempts()
        if len(self.stopped) >= self.most or not attempts or int(attempts[-1].path.name) == self._attempt:
            return
        trace, now = RunTrace(folder, int(attempts[-1].path.name)), SystemClock().monotonic()
        beat = trace.beat(0)
        began = [event for event in trace.events() if event.kind == EventKind.TRAIN_BEGAN]
        if beat is None or not is_alive(beat.pid) or not began or beat.step <= int(began[0].fields["step"]):
            return
        if self._due_at is None:
            self._due_at = now + self.chance.uniform(0, 1)
        elif now >= self._due_at:
            self._attempt, self._due_at = int(attempts[-1].path.name), None
            target = TARGETS[len(self.stopped) % len(TARGETS)]
            self.stopped.append(f"{target} in {beat.phase.name.lower()} at {beat.step}")
            tell(target, laststep, folder, int(read_object(attempts[-1].holder)["pid"]))


def tell(target: str, laststep: "subprocess.Popen[bytes]", folder: Path, holder: int) -> None:
    if target == "laststep":
        laststep.send_signal(signal.SIGTERM)
    elif target == "stop":
        home = folder.parent.parent
        subprocess.Popen([*LASTSTEP, "stop", RunFolder(folder).run_id, "--home", home], stderr=subprocess.DEVNULL)
    else:
        for process in find_descendants(holder):
            if is_rank(process.pid):
                os.kill(process.pid, signal.SIGTERM)


@dataclass(slots=True)
class Endings:
    """How each laststep ended that was told to stop."""

    codes: list[int] = field(default_factory=list)
    printed: list[str | None] = field(default_factory=list)


def run_to_the_end(laststep: LaststepProcess, stopper: RunStopper, endings: Endings) -> SupervisedRun:
    """Type what is printed as often as it stops."""
    seen = laststep.watch(lambda folder: stopper.look(laststep.process, folder), TIMEOUT_SECONDS)
    for _ in range(MOST_LAUNCHES):
        if seen.exit_code == 0 or not seen.output:
            break
        endings.codes.append(seen.exit_code)
        printed = re.findall(r"laststep (resume \w+)$", seen.output, re.MULTILINE)
        endings.printed.append(printed[-1] if printed else None)
        if not printed:
            break
        laststep.go_on(printed[-1].split())
        seen = laststep.watch(lambda folder: stopper.look(laststep.process, folder), TIMEOUT_SECONDS)
    return seen


def measure(bench: Bench) -> None:
    for case in CASES:
        if bench.only in (None, case.name):
            bench.say(f"  {case.name}")
            measure_case(bench, case)


def measure_case(bench: Bench, case: Case) -> None:
    data = ("--rows", str(case.rows * case.ranks), *DOCUMENTS)
    runs = [
        replace(
            bench.reported(f"{case.name} {name}", data, ranks=case.ranks, flags=case.flags), environment=ENVIRONMENT
        )
        for name in ("undisturbed", "stopped")
    ]
    run_to_the_end(LaststepProcess(runs[0], runs[0].output_dir.parent), RunStopper(0, random.Random(0)), Endings())
    stopper, endings = RunStopper(case.stops, random.Random(2)), Endings()
    seen = run_to_the_end(LaststepProcess(runs[1], runs[1].output_dir.parent), stopper, endings)
    bench.claim(f"it was told to stop {case.stops} times", holds=len(stopper.stopped) == case.stops,
                figure="; ".join(stopper.stopped))  # fmt: skip
    are_right = set(endings.codes) == {143} and None not in endings.printed
    bench.claim("laststep ends with 143 and prints how to go on", holds=are_right,
                figure=f"{len(endings.codes)} times, {sorted(set(endings.codes))}")  # fmt: skip
    bench.claim("it ends with 0", holds=seen.exit_code == 0, figure=seen.exit_code)
    judge_stops(bench, case, seen)
    compare(bench, read_final(runs[1]), read_final(runs[0]))
    if seen.exit_code != 0:
        bench.show_end(seen.output)


def judge_stops(bench: Bench, case: Case, seen: SupervisedRun) -> None:
    folder = RunFolder(seen.run_folder or Path())
    left = [
        [event for event in read_events(folder, place) if event.kind == EventKind.STOPPED_AT]
        for place in folder.attempts()
    ]
    steps = [{event.fields["step"] for event in events} for events in left[:-1]]
    whole = [len(events) == case.ranks and all(event.fields["saved"] for event in events) for events in left[:-1]]
    bench.claim("each time all ranks saved at one step", holds=all(whole) and all(len(step) == 1 for step in steps),
                figure=[sorted(step) for step in steps])  # fmt: skip
    resumed = list(list_resumes(folder.path))
    bench.claim("each time it went on from that step", holds=[{step} for step in resumed] == steps, figure=resumed)
    took = list(count_seconds(folder))
    bench.claim("within the grace time", holds=bool(took) and max(took) < GRACE_SECONDS,
                figure=f"{max(took, default=0):.1f} s at most")  # fmt: skip


def count_seconds(folder: RunFolder) -> list[float]:
    """Count from each request to the end of its attempt."""
    seconds = []
    for place in folder.attempts():
        ending = read_object(place.ending)
        if ending.get("stop_requests"):
            seconds.append(float(ending["command"]["at"]) - float(ending["stop_requests"][0]["at"]))
    return seconds


if __name__ == "__main__":
    run_bench("A run is told to stop again and again", measure)
