"""What is called what in a run folder?

Every name of the run folder stands here and nowhere else.
"""

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOME_VARIABLE = "LASTSTEP_HOME"


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """The part of a run folder that belongs to one launch."""

    path: Path

    @property
    def beats(self) -> Path:
        return self.path / "beats"

    @property
    def events(self) -> Path:
        """The guards' events, one file a process."""
        return self.path / "events"

    @property
    def states(self) -> Path:
        """What the ranks left at each save, for an exact resume."""
        return self.path / "states"

    @property
    def fingerprints(self) -> Path:
        """What each step was made of, one file a rank."""
        return self.path / "fingerprints"

    @property
    def requests(self) -> Path:
        """Where saves are asked for, answered and decided on."""
        return self.path / "requests"

    @property
    def resume_states(self) -> Path:
        """The states that this attempt goes on from."""
        return self.path / "resume"

    @property
    def ending(self) -> Path:
        return self.path / "ending.json"

    @property
    def holder(self) -> Path:
        """Which process holds the run, and where it listens."""
        return self.path / "holder.json"

    @property
    def holder_log(self) -> Path:
        """What the holder says when it fails itself."""
        return self.path / "holder.log"

    @property
    def socket(self) -> Path:
        return self.path / "socket"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where a run leaves what it knows. A temporary one lies in memory, keeps no output, and is removed at the end."""

    path: Path
    is_temporary: bool = False

    @property
    def run_id(self) -> str:
        return self.path.name.rpartition("_")[2]

    @property
    def run(self) -> Path:
        return self.path / "run.json"

    @property
    def events(self) -> Path:
        """Laststep's own events."""
        return self.path / "events.jsonl"

    @property
    def output(self) -> Path:
        return self.path / "output.log"

    @property
    def supervised(self) -> Path:
        """Locked by the one laststep that starts the attempts of this run."""
        return self.path / "supervised"

    @property
    def report(self) -> Path:
        return self.path / "report.json"

    def attempt(self, number: int) -> AttemptFolder:
        return AttemptFolder(self.path / "attempts" / str(number))

    def attempts(self) -> list[AttemptFolder]:
        """List the attempts there are, oldest first."""
        try:
            numbers = sorted(int(path.name) for path in (self.path / "attempts").iterdir() if path.name.isdigit())
        except OSError:
            return []
        return [self.attempt(number) for number in numbers]


def find_home(environment: Mapping[str, str], asked_for: Path | None = None) -> Path:
    """Find the folder that all runs lie in."""
    if asked_for is not None:
        return asked_for
    if environment.get(HOME_VARIABLE):
        return Path(environment[HOME_VARIABLE])
    from platformdirs import user_state_path  # noqa: PLC0415  # only needed when nobody said where

    return user_state_path("laststep", appauthor=False)


def runs_folder(home: Path) -> Path:
    return home / "runs"


def answers_folder(home: Path) -> Path:
    """Where it is kept what training environments have answered; it may be removed at any time."""
    return home / "answers"


def new_run_name(model: str, started_at: float) -> str:
    """Make a folder name that sorts by date, says what was trained, and ends in the run's id."""
    date = time.strftime("%Y%m%d-%H%M%S", time.localtime(started_at))
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", model).strip("-.")[:40] or "command"
    return f"{date}_{plain}_{new_run_id()}"


def new_run_id() -> str:
    """Make an id that is short to type and begins with a letter, so that nobody takes it for a number."""
    letters = "abcdefghkmnpqrstuvwxyz"
    return secrets.choice(letters) + "".join(secrets.choice(letters + "23456789") for _ in range(4))
