"""Which runs are there, how are they, and which one does the user mean?"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laststep.host.processes import is_alive
from laststep.journal.layout import AttemptFolder, RunFolder, runs_folder
from laststep.journal.reader import read_object
from laststep.records.errors import RunNotFoundError
from laststep.records.text import Text
from laststep.telemetry.progress import count_steps
from laststep.telemetry.read_beats import read_beats

_NO_RUN = Text(
    en="There is no run in {folder} yet. Start one with: laststep run -- COMMAND",
    zh="{folder} 中还没有运行。启动一个：laststep run -- COMMAND",
)
_SEVERAL = Text(
    en="Several runs go by the name “{name}”. There are: {known}. `laststep runs` lists all.",
    zh="名称“{name}”对应多个运行：{known}。`laststep runs` 可列出全部。",
)
_NONE = Text(
    en="No run goes by the name “{name}”. There are: {known}. `laststep runs` lists all.",
    zh="没有名为“{name}”的运行。现有：{known}。`laststep runs` 可列出全部。",
)
_NO_FOLDER = Text(en="{path} is no run folder: it has no {record}.", zh="{path} 不是运行目录：其中没有 {record}。")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """A run as its folder shows it now."""

    folder: RunFolder
    state: str  # running, or an outcome; "unreported" when it ended with nobody there
    command: tuple[str, ...]
    started_at: float
    output_dir: str | None
    report: dict[str, Any]
    steps: int | None = None
    target_steps: int | None = None


def list_runs(home: Path) -> Iterator[RunState]:
    """List all runs, newest first."""
    try:
        paths = sorted(runs_folder(home).iterdir(), key=_age_order, reverse=True)
    except OSError:
        return
    for path in paths:
        folder = RunFolder(path)
        if folder.run.exists():
            yield look_at_run(folder)


def _age_order(path: Path) -> tuple[str, int]:
    """Order by the date in the name; of runs that began in the same second, by when they were written down."""
    try:
        return path.name.partition("_")[0], RunFolder(path).run.stat().st_mtime_ns
    except OSError:
        return path.name.partition("_")[0], 0


def look_at_run(folder: RunFolder) -> RunState:
    """Look how a run is."""
    run, report = read_object(folder.run), read_object(folder.report)
    last = folder.attempts()[-1:]
    is_running = any(is_held(attempt) for attempt in last)
    beats = read_beats(last[0].beats) if is_running else ()
    steps, target_steps = count_steps(beats) if is_running else (report.get("steps"), report.get("target_steps"))
    return RunState(
        folder=folder,
        state="running" if is_running else str(report.get("outcome", "unreported")),
        command=tuple(run.get("command", ())),
        started_at=float(run.get("started_at", 0)),
        output_dir=run.get("output_dir"),
        report=report,
        steps=steps,
        target_steps=target_steps,
    )


def is_held(attempt: AttemptFolder) -> bool:
    """Tell whether the holder of an attempt lives and the attempt has not ended."""
    holder = read_object(attempt.holder)
    return "pid" in holder and not attempt.ending.exists() and is_alive(int(holder["pid"]), holder.get("start_ticks"))


def find_run(name: str, home: Path) -> RunFolder:
    """Find a run by id, unique beginning of an id or of a folder's name, path, or `last`."""
    if os.sep in name or name in (".", ".."):
        return _find_by_path(Path(name))
    runs = list(list_runs(home))
    if not runs:
        raise RunNotFoundError(_NO_RUN.fill(folder=runs_folder(home)))
    if name == "last":
        return runs[0].folder
    found = [run.folder for run in runs if run.folder.run_id == name] or [
        run.folder for run in runs if _begins_with(run.folder, name)
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(folder.run_id for folder in (found or [run.folder for run in runs])[:5])
    raise RunNotFoundError((_SEVERAL if found else _NONE).fill(name=name, known=known))


def _find_by_path(path: Path) -> RunFolder:
    folder = RunFolder(path.resolve())
    if not folder.run.exists():
        raise RunNotFoundError(_NO_FOLDER.fill(path=path, record=folder.run.name))
    return folder


def _begins_with(folder: RunFolder, name: str) -> bool:
    return folder.run_id.startswith(name) or folder.path.name.startswith(name)
