"""Where a fault is made: a real training is started, broken for real, and what it printed is kept.

A fault is a module of this folder: its docstring says what is done, `CAUSE` is the root cause, written down before any
verdict was seen, `break_run(scene)` breaks a training and gives what it printed, and `train(out)`, where there is one,
is the training itself, run under a training environment as `python tests/faults/NAME.py OUT`.
"""

import contextlib
import re
import shlex
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from laststep.demo.prepare_kit import prepare_data, prepare_model
from laststep.demo.reported_command import ReportedRun, reported_argv, reported_environment
from logs.places import ENVS, LAB, PROJECT, replace_places

TESTS = Path(__file__).resolve().parent.parent
MEMCAP = PROJECT / "lab" / "memcap.sh"
ROWS = ("--rows", "24")
SECONDS = 300.0
_TAG = "LASTSTEP_FAULT"  # in the environment of all that belongs to a fault
LOOK_SECONDS = 0.05


def hear_signals():
    """Programs that are started in the background ignore Ctrl-C, and so would the trainings that they start."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


class FaultDidNotFireError(Exception):
    """The training was not broken as the fault says."""


@dataclass(frozen=True, slots=True)
class Command:
    """A training as a user starts it."""

    argv: list
    environment: dict
    shown: str


@dataclass(frozen=True, slots=True)
class Broken:
    """What a broken training printed."""

    log: str
    command: str
    exit_code: int
    oom_kills: int = 0

    def expect(self, fired, why):
        if not fired:
            raise FaultDidNotFireError(f"{why}\n{self.log[-3000:]}\nexit {self.exit_code}")
        return self


@dataclass(slots=True)
class Process:
    """A training that runs."""

    popen: subprocess.Popen
    output: Path

    def log(self):
        return self.output.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, pattern, seconds=SECONDS):
        """Wait until the training has printed this."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.log()):
            if self.popen.poll() is not None or time.monotonic() > end:
                raise FaultDidNotFireError(f"never printed {pattern!r}:\n{self.log()[-3000:]}")
            time.sleep(LOOK_SECONDS)


@dataclass(slots=True)
class Scene:
    """A folder for one fault, and the parts to make it with."""

    work: Path

    @property
    def out(self):
        return self.work / "run"

    def python(self, env="current"):
        return (ENVS / env / "bin" / "python").absolute()

    def model(self):
        return prepare_model(self.python(), LAB)

    def rows(self):
        return prepare_data(self.python(), LAB, ROWS)

    def swift(self, *flags, env="current", ranks=1, rows=None, model=None, **environment):
        """The reported command, with other flags, rows or model."""
        run = ReportedRun(self.python(env), model or self.model(), rows or self.rows(), self.out, ranks=ranks,
                          flags=flags, environment=environment)  # fmt: skip
        argv, prefix = reported_argv(run), [f"NPROC_PER_NODE={ranks}"] if ranks > 1 else []
        return Command(argv, reported_environment(run), shlex.join([*prefix, *argv]))

    def script(self, fault, *arguments, env="current", ranks=1, launcher=(), **environment):
        """The training of a fault's own file."""
        run = ReportedRun(self.python(env), self.model(), self.rows(), self.out, environment=environment)
        if ranks > 1:
            launcher = ("-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}", *launcher)
        argv = [str(self.python(env)), *launcher, fault, str(self.out), *map(str, arguments)]
        path = f"{TESTS / 'logs' / 'drivers'}"
        more = {"PYTHONPATH": path, "MODEL": str(self.model())} | environment
        return Command(argv, reported_environment(run) | more, shlex.join(["python", *argv[1:]]))

    def run(self, command, *, limit="", wrapper=(), meddle=None, fails=True, seconds=SECONDS):
        """Run it to its end, inside a memory limit or a wrapper; `meddle(process)` breaks it while it runs."""
        output = self.work / "output.log"
        wrapper = [str(MEMCAP), limit, *wrapper] if limit else list(wrapper)
        environment = command.environment | {_TAG: str(self.work)}
        with output.open("wb") as file:
            popen = subprocess.Popen(
                [*wrapper, *command.argv], env=environment, cwd=self.work, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        process = Process(popen, output)
        try:
            if meddle is not None:
                meddle(process)
            popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise FaultDidNotFireError(f"still there after {seconds:.0f} s:\n{process.log()[-3000:]}") from None
        finally:
            self._end_all()
            popen.wait()
        broken = self._tell(process.log(), command, popen.returncode)
        if fails:
            broken.expect(popen.returncode != 0, "the training ended with 0")
        return broken

    def _end_all(self):
        """End what this fault started; torchrun gives each rank a session of its own."""
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(_TAG) == str(self.work):
                    process.kill()

    def _tell(self, log, command, code):
        kills = re.findall(r"memcap: peak \d+ bytes, OOM kills (\d+)", log)
        log = re.sub(r"memcap: .*\n", "", log)
        return Broken(
            replace_places(log, self.work), replace_places(command.shown, self.work), code,
            oom_kills=int(kills[-1]) if kills else 0,
        )  # fmt: skip

    @contextlib.contextmanager
    def small_disk(self, size, *, inodes=0):
        """A file system of so many bytes at the place where the output goes."""
        self.out.mkdir(parents=True, exist_ok=True)
        options = f"size={size}" + (f",nr_inodes={inodes}" if inodes else "")
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.out], check=True)
        try:
            yield self.out
        finally:
            subprocess.run(["umount", "--lazy", self.out], check=True)
