"""How long does it take to say what a log shows, and in how much memory?

A log of 1 GiB full of progress bars and log lines, with the one line that matters at its end; and one of 5 MB, start-up
included.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from harness import Bench, run_bench

BAR = b"Train:   3%|#         | 600/22156 [3:14:25<82:43:44, 13.82s/it]\r"
LOGGED = (
    b"{'loss': 0.10009546, 'token_acc': 0.98598949, 'grad_norm': 0.1772, 'learning_rate': 5.415e-05, 'epoch': 0.05}\n"
)
KILLED = b"[rank0]: RuntimeError: DataLoader worker (pid 511) is killed by signal: Killed.\n"
SIZES = {"1 GiB": (1 << 30, 8.0), "5 MB": (5_000_000, 0.5)}
MOST_BYTES = 250_000_000
LASTSTEP = (sys.executable, "-m", "laststep", "diagnose", "--json")


def measure(bench: Bench) -> None:
    for name, (size, most_seconds) in SIZES.items():
        if bench.only not in (None, name):
            continue
        log = bench.work / f"{name}.log"
        write_log(log, size)
        seconds, peak, told = diagnose(log)
        bench.claim(f"{name}: the cause is found", holds='"host-memory.worker-oom-killed"' in told, figure=told[:60])
        bench.claim(f"{name} in {most_seconds} s", holds=seconds <= most_seconds, figure=f"{seconds:.2f} s")
        bench.claim(f"{name} below 250 MB", holds=peak < MOST_BYTES, figure=f"{peak / 1e6:.0f} MB")


def write_log(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    block = (BAR * 20 + b"\n" + LOGGED) * 700
    with path.open("wb") as file:
        for _ in range(size // len(block)):
            file.write(block)
        file.write(KILLED)


def diagnose(log: Path) -> tuple[float, int, str]:
    """Give the best of three times, the peak of memory in bytes, and what was said."""
    best, peak, told = float("inf"), 0, ""
    for _ in range(3):
        began = time.monotonic()
        with subprocess.Popen([*LASTSTEP, log], stdout=subprocess.PIPE, text=True) as process:
            told = process.stdout.read() if process.stdout is not None else ""
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        best, peak = min(best, time.monotonic() - began), max(peak, usage.ru_maxrss * 1024)
    return best, peak, told


if __name__ == "__main__":
    run_bench("A log of any size is read in no time", measure)
