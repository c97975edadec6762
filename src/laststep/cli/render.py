"""How does laststep speak? The only module that prints."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from laststep.cli.guard_words import FIXES, FIXES_TITLE, GUARDS, GUARDS_TITLE
from laststep.cli.render_report import write_report_lines
from laststep.records.report import LastReport
from laststep.records.text import Language, Text
from laststep.supervisor.list_runs import RunState
from laststep.supervisor.report_values import list_report_values

_LEFT = Text(en="left running; laststep attach last shows it again", zh="运行继续；laststep attach last 可重新查看")
_NOT_WRITTEN = Text(en="the report could not be written to {file}: {problem}", zh="报告无法写入 {file}：{problem}")


class StderrConsole:
    """Says single lines on stderr, marked as laststep's own."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def say(self, text: Text, *, within_line: bool = False) -> None:
        _write(sys.stderr, f"{chr(10) if within_line else ''}{_mark('laststep')} {text.say(self._language)}\n")

    def ask(self, question: Text) -> bool:
        _write(sys.stderr, f"{_mark('laststep')} {question.say(self._language)} [y/N] ")
        return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}


class Progress:
    """Shows on a terminal how far a long reading is; elsewhere nothing."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._begun = 0
        self._name = ""
        self._shown = ""

    def end(self) -> None:
        self._show("")

    def begin(self, name: str) -> None:
        self._begun += 1
        self._name = name

    def tick(self, done: int, total: int) -> None:
        percent = 100 * done // total if total else 100
        self._show(f"[{self._begun}/{self._count}] {self._name} {percent} %")

    def _show(self, text: str) -> None:
        if text != self._shown and sys.stderr is not None and sys.stderr.isatty():
            _write(sys.stderr, f"\r{text}\x1b[K")
            self._shown = text


def show_left(language: Language) -> None:
    StderrConsole(language).say(_LEFT, within_line=True)


def show_report(report: LastReport, language: Language, *, as_json: bool, file: Path | None) -> None:
    """Show the last report, and write it where it was asked for."""
    values = json.dumps(list_report_values(report, language), ensure_ascii=False)
    if file is not None:
        try:
            file.write_text(values + "\n", encoding="utf-8")
        except OSError as error:
            StderrConsole(language).say(_NOT_WRITTEN.fill(file=file, problem=error.strerror))
    lines = write_report_lines(report, language, is_colourful=_is_colourful(sys.stderr))
    _write(sys.stderr, "".join(f"{line}\n" for line in lines))
    if as_json:
        _write(sys.stderr, f"{values}\n")


def show_version(version: str) -> None:
    _write(sys.stdout, f"laststep {version}\n")


def show_guards(language: Language) -> None:
    """Name all guards and fixes."""
    for title, words in ((GUARDS_TITLE, GUARDS), (FIXES_TITLE, FIXES)):
        lines = "".join(f"  {name:<28} {does.say(language)}\n" for name, does in words.items())
        _write(sys.stdout, f"{title.say(language)}\n{lines}")


def show_lines(write: Callable[[bool], Sequence[str]]) -> None:
    """Show lines on stdout; `write` is told whether they may be colourful."""
    _write(sys.stdout, "".join(f"{line}\n" for line in write(_is_colourful(sys.stdout))))


def show_values(values: object) -> None:
    """Show one JSON object on stdout."""
    _write(sys.stdout, json.dumps(values, ensure_ascii=False) + "\n")


def show_runs(runs: Sequence[RunState], *, as_json: bool) -> None:
    """List runs, newest first."""
    if as_json:
        _write(sys.stdout, json.dumps({"runs": [_list_run_values(run) for run in runs]}, ensure_ascii=False) + "\n")
        return
    for run in runs:
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started_at))
        steps = f"{run.steps}/{run.target_steps or '?'}" if run.steps is not None else ""
        words = " ".join(run.command)
        _write(sys.stdout, f"{run.folder.run_id:<6} {run.state:<14} {steps:>11}  {started}  {words[:80]}\n")


def _list_run_values(run: RunState) -> dict[str, object]:
    return {
        "id": run.folder.run_id,
        "state": run.state,
        "path": str(run.folder.path),
        "started_at": run.started_at,
        "command": run.command,
        "steps": run.steps,
        "target_steps": run.target_steps,
        "report": run.report or None,
    }


def _mark(word: str) -> str:
    return f"\x1b[1;36m{word}\x1b[0m" if _is_colourful(sys.stderr) else f"{word}:"


def _is_colourful(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _write(stream: TextIO | None, text: str) -> None:
    """Write and flush; a stream that is closed or gone is nothing to fail over."""
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError):
        # A terminal without UTF-8 gets question marks rather than an exception.
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
