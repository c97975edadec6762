"""What do all benches share?

A bench states claims, each with the figure that was measured, and exits with 1 when one of them does not hold:

    python bench/hang_on_two_ranks.py [--env reported] [--json] [--keep FOLDER]
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from laststep.demo.prepare_kit import prepare_data, prepare_model
from laststep.demo.reported_command import ReportedRun, reported_argv, reported_environment
from laststep.demo.run_laststep import LaststepProcess, SupervisedRun
from laststep.demo.trace import RunTrace
from laststep.demo.trained import Trained, read_trained
from laststep.records.event import Event

PROJECT = Path(__file__).resolve().parent.parent
MEMCAP = PROJECT / "lab" / "memcap.sh"
LOOK_SECONDS = 0.2
KILLER_LOOK_SECONDS = 0.005  # a save takes fifty times as long
TIMEOUT_SECONDS = 600.0
DOCUMENTS_FIX_OFF = ("--no-fix", "swift-repeated-documents")


@dataclass(frozen=True, slots=True)
class StockRun:
    """A run without laststep."""

    exit_code: int | None  # None: it had to be ended, because it stood still
    trained: Trained
    output: str
    seconds: float

    @property
    def is_hung(self) -> bool:
        return self.exit_code is None


@dataclass(slots=True)
class Bench:
    """Collects the claims of one bench."""

    title: str
    env: str
    work: Path
    as_json: bool
    only: str | None = None  # the one case to measure
    claims: list[dict[str, object]] = field(default_factory=list)

    def python(self, env: str | None = None) -> Path:
        """Give the Python of a training environment."""
        folder = Path(os.environ.get("LASTSTEP_ENVS") or PROJECT / ".envs")
        python = folder / (env or self.env) / "bin" / "python"
        if not python.exists():
            raise SystemExit(f"{python} does not exist; `make envs` builds it.")
        return python

    def reported(self, name: str, data: Sequence[str], *, ranks: int = 1, flags: Sequence[str] = ()) -> ReportedRun:
        """Describe the reported command on the tiny model and a data set, with an output folder of its own."""
        # Built with one environment for both: the weights are the same, and so must the data be.
        builder, lab = self.python("current"), Path(os.environ.get("LASTSTEP_LAB") or PROJECT / ".lab")
        model, rows = prepare_model(builder, lab), prepare_data(builder, lab, data)
        return ReportedRun(self.python(), model, rows, self.work / name / "output", ranks=ranks, flags=flags)

    def claim(self, text: str, *, holds: bool, figure: object) -> None:
        """State what was asserted and what was measured."""
        self.claims.append({"claim": text, "holds": holds, "figure": figure})
        if not self.as_json:
            print(f"  {'ok  ' if holds else 'FAIL'} {text}: {figure}", flush=True)

    def say(self, text: str) -> None:
        print(text, file=sys.stderr if self.as_json else sys.stdout, flush=True)

    def show_end(self, output: str) -> None:
        """Show how a run ended that should have ended otherwise."""
        for line in output.splitlines()[-15:]:
            self.say(f"       | {line[:200]}")


def run_bench(title: str, measure: Callable[[Bench], None], *, env: str = "current") -> None:
    """Read the options, measure, and leave with 0 when every claim holds."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--env", default=env, choices=("current", "reported"), help="whose ms-swift trains")
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder")
    parser.add_argument("--only", metavar="CASE", help="measure one case alone, where a bench has several")
    args = parser.parse_args()
    work = args.keep or Path(tempfile.mkdtemp(prefix="laststep-bench-"))
    bench = Bench(title, args.env, work.absolute(), args.as_json, args.only)
    bench.say(f"{title} [{args.env}]")
    try:
        measure(bench)
    finally:
        if args.keep is None:
            shutil.rmtree(work, ignore_errors=True)
    holds = bool(bench.claims) and all(claim["holds"] for claim in bench.claims)
    if args.as_json:
        print(json.dumps({"bench": title, "env": args.env, "holds": holds, "claims": bench.claims}))
    sys.exit(0 if holds else 1)


def run_stock(run: ReportedRun, *, wrapper: Sequence[str] = (), still_seconds: float | None = None) -> StockRun:
    """Run the command alone. With `still_seconds` it is ended once it has made no step for so long after its first."""
    work = run.output_dir.parent
    work.mkdir(parents=True, exist_ok=True)
    started = last_step_at = time.monotonic()
    steps = 0
    with (work / "shown.log").open("wb") as shown:
        process = subprocess.Popen(
            [*wrapper, *reported_argv(run)],
            env=reported_environment(run), stdin=subprocess.DEVNULL, stdout=shown, stderr=subprocess.STDOUT,
        )  # fmt: skip
        while (code := _wait(process, LOOK_SECONDS)) is None:
            now, seen = time.monotonic(), read_trained(run.output_dir).steps
            if seen != steps:
                steps, last_step_at = seen, now
            is_still = still_seconds is not None and steps and now - last_step_at > still_seconds
            if is_still or now - started > TIMEOUT_SECONDS:
                end_family(process)
                break
    output = (work / "shown.log").read_text(errors="replace")
    return StockRun(code, read_trained(run.output_dir), output, time.monotonic() - started)


def run_supervised(
    run: ReportedRun,
    *,
    options: Sequence[str] = (),
    wrapper: Sequence[str] = (),
    look: Callable[[LaststepProcess, Path], None] | None = None,
    look_seconds: float = KILLER_LOOK_SECONDS,
) -> SupervisedRun:
    """Run the command under laststep; `look` is called every `look_seconds` with its run folder."""
    laststep = LaststepProcess(run, run.output_dir.parent, options=options, wrapper=wrapper)
    return laststep.watch(
        lambda folder: look(laststep, folder) if look else None, TIMEOUT_SECONDS, look_seconds=look_seconds
    )


def read_run_events(run: SupervisedRun, *kinds: str) -> list[Event]:
    """Read what the guards reported of some kinds."""
    if run.run_folder is None:
        return []
    return [event for event in RunTrace(run.run_folder).events() if event.kind in kinds]


def within(limit: str) -> list[str]:
    """Give the wrapper that puts a command under a memory limit."""
    if os.geteuid() != 0:
        raise SystemExit("A memory cgroup needs root. Run this bench as root, in a container of your own if need be.")
    return [str(MEMCAP), limit]


def read_memcap(output: str) -> tuple[float, int]:
    """Read the peak in GiB and the number of OOM kills from what memcap.sh said."""
    found = re.findall(r"memcap: peak (\d+) bytes, OOM kills (\d+)", output)
    return (int(found[-1][0]) / 2**30, int(found[-1][1])) if found else (0.0, -1)


def end_family(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process with all that it started; ranks have sessions of their own, so a group is not enough."""
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for member in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            member.kill()
    process.wait()


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
