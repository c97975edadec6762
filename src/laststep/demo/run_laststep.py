"""How is `laststep run` put in front of the reported command, as a user would?"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from laststep.demo.reported_command import ReportedRun, reported_argv, reported_environment
from laststep.demo.trained import Trained, read_trained

LOOK_SECONDS = 0.005  # between two looks at a run; a save takes fifty times as long
_LASTSTEP = [sys.executable, "-c", "from laststep.cli.main import main; main()"]


@dataclass(frozen=True, slots=True)
class SupervisedRun:
    """A finished run under laststep."""

    exit_code: int
    report: dict[str, Any]  # the last report; empty when there is none
    trained: Trained
    run_folder: Path | None
    output: str  # what it showed


@dataclass(slots=True)
class LaststepProcess:
    """A run under laststep that goes on. Its folder is known from the moment it exists."""

    run: ReportedRun
    work: Path
    _: KW_ONLY
    options: Sequence[str] = ()
    wrapper: Sequence[str] = ()  # put in front of laststep itself
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        options = ["--json", "--report", str(self._report), *self.options]
        self._start(["run", *options, "--", *reported_argv(self.run)])

    def go_on(self, words: Sequence[str]) -> None:
        """Start laststep once more, with what it printed: `resume` and the run's id."""
        self._start([*words, "--json", "--report", str(self._report)])

    def _start(self, words: Sequence[str]) -> None:
        environment = reported_environment(self.run) | {"LASTSTEP_HOME": str(self.work / "home")}
        with self._shown.open("wb") as shown:
            self.process = subprocess.Popen(
                [*self.wrapper, *_LASTSTEP, *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=shown,
                stderr=subprocess.STDOUT,
            )

    @property
    def run_folder(self) -> Path | None:
        return max((self.work / "home" / "runs").glob("*"), default=None)

    def watch(
        self, look: Callable[[Path], None], timeout_seconds: float, *, look_seconds: float = LOOK_SECONDS
    ) -> SupervisedRun:
        """Call `look(run folder)` again and again until the run is over. Raises TimeoutExpired when it is late."""
        waited = 0.0
        while True:
            try:
                self.process.wait(look_seconds)
            except subprocess.TimeoutExpired:  # noqa: PERF203  # this is how waiting with a limit says "not yet"
                waited += look_seconds
                folder = self.run_folder
                if folder is not None:
                    look(folder)
                if waited > timeout_seconds:
                    self.process.terminate()  # laststep leaves nothing behind
                    self.process.wait()
                    raise
            else:
                return self._finished()

    def _finished(self) -> SupervisedRun:
        report = json.loads(self._report.read_text()) if self._report.exists() else {}
        return SupervisedRun(
            exit_code=self.process.returncode,
            report=report,
            trained=read_trained(self.run.output_dir),
            run_folder=self.run_folder,
            output=self._shown.read_text(errors="replace"),
        )

    @property
    def _report(self) -> Path:
        return self.work / "report.json"

    @property
    def _shown(self) -> Path:
        return self.work / "shown.log"
