"""Does a save take longer because it is sealed?

Ten pairs of runs in turns, each with a checkpoint of a few hundred megabytes at every third step, with and without the
guard by which saves are sealed. A checkpoint is read back while the next steps are made; `--only "every step"` measures
the worst case, where it is read back while the next one is written.
"""

import shutil
import statistics
from collections.abc import Sequence
from dataclasses import replace

from harness import PROJECT, Bench, read_run_events, run_bench, run_supervised
from laststep_guard.wire import EventKind

SIZE = ("--hidden", "1536", "--micro_batch", "1")
CASES = {
    "every third step": (*SIZE, "--max_steps", "13", "--save_steps", "3"),
    "every step": (*SIZE, "--max_steps", "7", "--save_steps", "1"),
}
PAIRS = 10
LARGEST_RATIO = 1.05
UNSEALED = ("--no-guard", "resume")


def measure(bench: Bench) -> None:
    case = bench.only or "every third step"
    ratios = []
    for pair in range(PAIRS):
        order = ("sealed", "unsealed") if pair % 2 else ("unsealed", "sealed")
        seconds = {name: time_saves(bench, pair, name, CASES[case]) for name in order}
        ratios.append(seconds["sealed"] / seconds["unsealed"])
        bench.say(f"       {seconds['unsealed']:.3f} s, sealed {seconds['sealed']:.3f} s, {ratios[-1]:.4f}")
    median = statistics.median(ratios)
    bench.claim(
        f"{case}: a sealed save takes at most {LARGEST_RATIO} of one that is not", holds=median <= LARGEST_RATIO,
        figure=f"median {median:.4f}, from {min(ratios):.4f} to {max(ratios):.4f}",
    )  # fmt: skip


def time_saves(bench: Bench, pair: int, name: str, flags: Sequence[str]) -> float:
    """Give the median time of a run's saves but the first, which makes the files' pages."""
    run = bench.reported(f"{pair} {name}", ("--rows", "8"), flags=flags)
    run = replace(run, program=(str(bench.python()), str(PROJECT / "bench" / "plain_trainer.py")))
    seen = run_supervised(run, options=UNSEALED if name == "unsealed" else (), look_seconds=0.1)
    saved = [float(event.fields["seconds"]) for event in read_run_events(seen, EventKind.CHECKPOINT_SAVED)]
    sealed = [event for event in seen.report.get("checkpoints", ()) if event["soundness"] == "sound"]
    if seen.exit_code != 0 or len(saved) < 2 or bool(sealed) != (name == "sealed"):
        bench.show_end(seen.output)
        raise SystemExit(f"{name}: exit code {seen.exit_code}, {len(saved)} saves, {len(sealed)} sealed")
    shutil.rmtree(run.output_dir)  # room for the next pair
    return statistics.median(saved[1:])


if __name__ == "__main__":
    run_bench("A save that is sealed takes no longer", measure)
