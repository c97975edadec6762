"""What does laststep cost a healthy run?

Five pairs of 300-step runs, with and without laststep in turns, so that a machine that slows down hits both.
As a user has it, and with the fix left out that makes this run faster. The supervisor's memory is looked at meanwhile.
"""

import contextlib
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

import psutil

from harness import DOCUMENTS_FIX_OFF, LOOK_SECONDS, Bench, run_bench, run_stock, run_supervised
from laststep.demo.run_laststep import LaststepProcess
from laststep.journal.layout import RunFolder

STEPS = 300
DATA = ("--rows", str(STEPS))
FLAGS = (
    "--split_dataset_ratio", "0", "--eval_strategy", "no", "--save_steps", "100", "--gradient_accumulation_steps", "1",
)  # fmt: skip
PAIRS = 5
LARGEST_RATIO = 1.01
LARGEST_SUPERVISOR_BYTES = 80_000_000


CASES = {"as a user has it": (), "without the faster documents": DOCUMENTS_FIX_OFF}


def measure(bench: Bench) -> None:
    memory = PeakMemory()
    for case, options in CASES.items():
        if bench.only not in {None, case}:
            continue
        bench.say(f"  {case}")
        median = statistics.median(_measure_pair(bench, f"{case} {pair}", options, memory) for pair in range(PAIRS))
        bench.claim(
            f"{case}: median training time at most {LARGEST_RATIO}", holds=median <= LARGEST_RATIO,
            figure=f"{median:.4f}",
        )  # fmt: skip
    bench.claim(
        f"the supervisor stays below {LARGEST_SUPERVISOR_BYTES / 1e6:.0f} MB",
        holds=0 < memory.peak_bytes < LARGEST_SUPERVISOR_BYTES,
        figure=f"{memory.peak_bytes / 1e6:.0f} MB, and its holder {memory.peak_holder_bytes / 1e6:.0f} MB",
    )


def _measure_pair(bench: Bench, name: str, options: Sequence[str], memory: "PeakMemory") -> float:
    """Give the time under laststep as a share of the time alone. Who goes first changes from pair to pair."""
    stock_first = int(name[-1]) % 2 == 0
    stock = run_stock(bench.reported(f"{name} stock", DATA, flags=FLAGS)) if stock_first else None
    supervised = run_supervised(
        bench.reported(f"{name} supervised", DATA, flags=FLAGS), options=options, look=memory.look,
        look_seconds=LOOK_SECONDS,
    )  # fmt: skip
    stock = stock or run_stock(bench.reported(f"{name} stock", DATA, flags=FLAGS))
    ours, theirs = supervised.trained.train_seconds, stock.trained.train_seconds
    if not ours or not theirs or supervised.trained.steps != STEPS:
        bench.show_end(supervised.output)
        raise SystemExit(f"{name} did not finish: {supervised.exit_code} and {stock.exit_code}.")
    bench.say(f"       {theirs:.2f} s alone, {ours:.2f} s under laststep, {ours / theirs:.4f}")
    return ours / theirs


class PeakMemory:
    """The most memory that `laststep run` and its holder were seen to use."""

    def __init__(self) -> None:
        self.peak_bytes = self.peak_holder_bytes = 0

    def look(self, laststep: LaststepProcess, run_folder: Path) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.peak_bytes = max(self.peak_bytes, psutil.Process(laststep.process.pid).memory_info().rss)
        with contextlib.suppress(psutil.NoSuchProcess, OSError, ValueError, KeyError):
            holder = json.loads(RunFolder(run_folder).attempt(1).holder.read_text())["pid"]
            self.peak_holder_bytes = max(self.peak_holder_bytes, psutil.Process(holder).memory_info().rss)


if __name__ == "__main__":
    run_bench("laststep costs next to nothing", measure)
