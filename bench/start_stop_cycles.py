"""Does anything survive a run that is hit by a signal at a bad moment, and is its exit code right?

`start_stop_cycles.py --cycles 200` starts a run, sends a random signal at a random moment to laststep, to the front
(`swift`), to torchrun's agent, to a rank or to a loader worker (a moment at which there is one), and looks: no process
is left, no segment of shared memory, and the exit code is one that the table allows.

`--real` drives `swift sft` instead of the fakes in tests/fakes.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "src"))
FAKES = PROJECT / "tests" / "fakes"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  # the kernel's shared memory
TAG = "LASTSTEP_TEST_TAG"
RUN_SECONDS = 600
DATA = ("--rows", "60")
VICTIMS = ("laststep", "front", "agent", "rank", "worker")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
BY_SIGNAL = {signal.SIGTERM: {143}, signal.SIGINT: {130}, signal.SIGKILL: {137}, signal.SIGHUP: set()}


@dataclass(frozen=True)
class Work:
    """What is run, and how its processes are told apart by their command lines."""

    words: list[str]
    environment: dict[str, str]
    marks: tuple[tuple[str, str], ...]
    longest_wait: float  # seconds that the victim lives until the signal


@dataclass(frozen=True)
class Hit:
    """Who got which signal."""

    victim: str
    number: int
    pid: int | None  # None: there was no such process at that moment


@dataclass(frozen=True)
class Cycle:
    """What happened and what was wrong with it."""

    hit: Hit
    problems: tuple[str, ...]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", action="store_true", help="run `swift sft` on the tiny model")
    parser.add_argument("--env", type=Path, default=PROJECT / ".envs" / "current", help="with ms-swift in it")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        work = real_work(options, Path(folder)) if options.real else fake_work()
        cycles = [run_cycle(number, work, chance, Path(folder)) for number in range(options.cycles)]
    good = [cycle for cycle in cycles if not cycle.problems]
    struck = sum(cycle.hit.pid is not None for cycle in cycles)
    print(f"{len(good)} of {len(cycles)} cycles left nothing and gave the right code; {struck} signals found somebody")
    sys.exit(0 if len(good) == len(cycles) else 1)


def fake_work():
    fakes = {name: str(FAKES / f"{name}.py") for name in ("front", "agent", "trainer")}
    trainer = [fakes["trainer"], "--target", "30", "--step-seconds", "0.05", "--workers", "2"]
    words = [sys.executable, fakes["front"], sys.executable, fakes["agent"], "2", sys.executable, *trainer]
    # The first that a command line contains: that of the front holds all the others.
    marks = (("front", "front.py"), ("agent", "agent.py"), ("rank", "trainer.py"), ("worker", "-c import time"))
    return Work(words, dict(os.environ), marks, longest_wait=2.0)


def real_work(options, folder):
    from laststep.demo.prepare_kit import prepare_data, prepare_model  # noqa: PLC0415  # only the real work needs it
    from laststep.demo.reported_command import (  # noqa: PLC0415  # the same
        ReportedRun,
        reported_argv,
        reported_environment,
    )

    python, lab = options.env.absolute() / "bin" / "python", Path(os.environ.get("LASTSTEP_LAB") or PROJECT / ".lab")
    model, rows = prepare_model(python, lab), prepare_data(python, lab, DATA)
    run = ReportedRun(python, model, rows, folder / "out", ranks=2)
    marks = (("front", "/bin/swift sft"), ("agent", "-m torch.distributed.run"), ("rank", "swift/cli/sft.py"))
    return Work(reported_argv(run), reported_environment(run), marks, longest_wait=12.0)


def run_cycle(cycle, work, chance, folder):
    """Run once with one hit, and look what it left."""
    tag = uuid.uuid4().hex
    environment = work.environment | {TAG: tag, "LASTSTEP_HOME": str(folder / f"home-{cycle}"), "LANG": "C.UTF-8"}
    environment["PYTHONPATH"] = str(PROJECT / "src")
    before = segments()
    words = [sys.executable, "-m", "laststep"]
    with tempfile.TemporaryFile() as errors:
        run = [*words, "run", "--json", "--grace", "5", "--", *work.words]
        process = subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        hit = strike(chance, work, tag, process)
        seen = watch(process, tag)
        if hit.victim == "laststep" and hit.number in (signal.SIGKILL, signal.SIGHUP):
            wait_for_holder(environment, tag)
            attach = [*words, "attach", "last", "--json"]
            process = subprocess.Popen(attach, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
            seen |= watch(process, tag)
        errors.seek(0)
        told = errors.read().decode(errors="replace").splitlines()
    problems = (
        *find_left_alive(tag),
        *find_left_in_memory(before, seen),
        *find_wrong_code(hit, process.returncode, told),
    )
    name = signal.Signals(hit.number).name
    print(
        f"{cycle:4} {name:8} {hit.victim:9} {hit.pid or '-':>8} code {process.returncode} {'; '.join(problems)}",
        flush=True,
    )
    return Cycle(hit, problems)


def strike(chance, work, tag, process):
    victim = chance.choice(VICTIMS)
    number = chance.choice([*SIGNALS, signal.SIGHUP] if victim == "laststep" else SIGNALS)
    wait_for(work, victim, tag, process)
    time.sleep(chance.uniform(0, work.longest_wait))
    pids = [process.pid] if victim == "laststep" else find(work, victim, tag)
    pid = chance.choice(pids) if pids else None
    try:
        os.kill(pid or 0, number if pid else 0)
    except ProcessLookupError:
        pid = None
    return Hit(victim, number, pid)


def wait_for(work, victim, tag, process):
    """Wait until the victim is born; a moment before that would hit nobody."""
    while victim != "laststep" and not find(work, victim, tag) and process.poll() is None:
        time.sleep(0.1)


def watch(process, tag):
    """Wait for the end, and take down every process that there is meanwhile."""
    deadline = time.monotonic() + RUN_SECONDS
    seen = set()
    while process.poll() is None:
        seen.update(living(tag))
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(0.1)
    return seen


def find(work, victim, tag):
    """Processes of a kind. A forked worker looks like the rank it was forked from, so that its parent tells."""
    kinds = {pid: (parent, kind_of(work, words)) for pid, (parent, words) in living(tag).items()}
    forked = {
        pid for pid, (parent, kind) in kinds.items() if kind == "rank" and kinds.get(parent, (0, ""))[1] == "rank"
    }
    if victim == "rank":
        return sorted(pid for pid, (_, kind) in kinds.items() if kind == "rank" and pid not in forked)
    return sorted(
        {pid for pid, (_, kind) in kinds.items() if kind == victim} | (forked if victim == "worker" else set())
    )


def kind_of(work, words):
    if "-m laststep " in words or "laststep-holder" in words:
        return "laststep"
    return next((kind for kind, part in work.marks if part in words), "other")


def wait_for_holder(environment, tag):
    """Wait until the holder can be attached to, or is gone."""
    deadline = time.monotonic() + 5
    while living(tag) and not list(Path(environment["LASTSTEP_HOME"]).glob("runs/*/attempts/1/holder.json")):
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


def find_left_alive(tag):
    deadline = time.monotonic() + 10
    while living(tag) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid, (_, words) in living(tag).items():
        yield f"left alive: {pid} {words[:80]}"
        os.kill(pid, signal.SIGKILL)


def find_left_in_memory(before, seen):
    """Other programs of this machine use shared memory too: what is mapped is in use, and torch names its makers."""
    new = segments() - before
    left = new - mapped_by_anybody(new)
    left = {name for name in left if not name.startswith("torch_") or int(name.split("_")[1]) in seen}
    left &= segments()  # without those that somebody else was just done with
    if left:
        yield f"left in shared memory: {sorted(left)}"


def find_wrong_code(hit, code, told):
    if code not in allowed_codes(hit):
        yield f"code {code} is not of {sorted(allowed_codes(hit))}"
    with contextlib.suppress(ValueError, IndexError):
        report = json.loads(told[-1])
        if report["exit_code"] != code:
            yield f"the report says {report['exit_code']}"


def allowed_codes(hit):
    """The codes of the table. 0 is always one: the signal may come when all is done, or be guarded against."""
    if hit.pid is None:
        return {0}
    if hit.victim == "laststep":
        # Before its handlers are there, laststep has started nothing and ends by the signal itself.
        early = {-hit.number, 130} if hit.number in (signal.SIGTERM, signal.SIGINT) else {2}
        return {0, 143 if hit.number in (signal.SIGTERM, signal.SIGINT) else 0} | early
    if hit.victim == "worker":
        return {0, 1, 130, 137, 143}  # 0 with the guard; what the trainer makes of it without
    own = BY_SIGNAL[hit.number]
    # The agent passes a SIGINT on as it pleases, and a trainer may turn it into an exception.
    return {0} | own | ({1, 143} if hit.number == signal.SIGINT else set())


def living(tag):
    """Processes with the tag in their environment: {pid: (parent, command line)}."""
    marked = f"{TAG}={tag}".encode()
    found = {}
    for name in os.listdir("/proc"):
        entry = Path("/proc") / name
        with contextlib.suppress(OSError, ValueError):
            fields = (entry / "stat").read_bytes().rpartition(b") ")[2].split()
            if (
                name.isdigit()
                and int(name) != os.getpid()
                and fields[0] != b"Z"
                and marked in (entry / "environ").read_bytes()
            ):
                found[int(name)] = int(fields[1]), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def mapped_by_anybody(names):
    if not names:
        return set()
    mapped = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{name}/maps").read_text(errors="replace")
            mapped |= {segment for segment in names if f"{SHARED_MEMORY}/{segment}" in text}
    return mapped


def segments():
    return {name for name in os.listdir(SHARED_MEMORY) if name.startswith(("torch_", "psm_", "sem."))}


if __name__ == "__main__":
    main()
