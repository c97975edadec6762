"""Which Python does a program run in, and what does that Python answer?

A program that pip installed is a text whose first line names its interpreter. Where that path is too long for the
kernel, pip writes a shell line instead, which names it too.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from laststep.records.errors import LaststepError
from laststep.records.text import Text

QUESTIONS = Path(__file__).parent / "questions"
_PYTHON = re.compile(r"python[\d.]*$")
_HEAD_BYTES = 4096
_EXEC = re.compile(rb"""^'''exec' ['"]?([^'"\n]+?)['"]? "\$0" """, re.MULTILINE)
_SAID = 300  # characters of what an interpreter said when it failed: the end of it
_FAILED = Text(en="{python} could not answer: {said}", zh="{python} 无法回答：{said}")
_TOO_SLOW = Text(en="{python} took longer than {seconds:.0f} s to answer", zh="{python} 超过 {seconds:.0f} 秒未回答")


class NoAnswerError(LaststepError):
    """The training's Python could not be asked."""


class Environment(Protocol):
    """The environment that the training runs in."""

    def ask(self, question: str, *arguments: str) -> Any:
        """Have a program of `host/questions` answer. Raises NoAnswerError."""

    def identify(self) -> str:
        """Say which environment this is, and change when packages are installed or removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPython:
    """An interpreter, asked by starting it."""

    python: str
    environment: Mapping[str, str]
    cwd: Path
    timeout_seconds: float = 120.0

    def ask(self, question: str, *arguments: str) -> Any:
        """Start the interpreter on a program of `host/questions`, and read its one JSON object."""
        words = [self.python, str(QUESTIONS / f"{question}.py"), *arguments]
        # Without a GPU in sight nothing is put on one, and what is only asked need not wait for one.
        environment = {**self.environment, "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            asked = subprocess.run(
                words, env=environment, cwd=self.cwd, capture_output=True, timeout=self.timeout_seconds, check=False
            )
            return json.loads(asked.stdout)
        except subprocess.TimeoutExpired:
            raise NoAnswerError(_TOO_SLOW.fill(python=self.python, seconds=self.timeout_seconds)) from None
        except (OSError, ValueError) as error:
            said = asked.stderr.decode(errors="replace").strip()[-_SAID:] if isinstance(error, ValueError) else error
            raise NoAnswerError(_FAILED.fill(python=self.python, said=said)) from error

    def identify(self) -> str:
        """Name the interpreter and when packages of it were last installed or removed."""
        folders = sorted(Path(self.python).parent.parent.glob("lib/python3.*/site-packages"))
        return "|".join([self.python, *(f"{folder}:{_changed_at(folder)}" for folder in folders)])


def find_python(program: str, environment: Mapping[str, str], cwd: Path) -> str | None:
    """Find the interpreter that a program is run by; None where it is no Python program."""
    found = program if os.sep in program else shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        return None
    path = str(cwd / found)
    if _PYTHON.match(os.path.basename(path)):
        return path
    try:
        with open(path, "rb") as file:
            return _read_interpreter(file.read(_HEAD_BYTES), environment)
    except OSError:
        return None


def _read_interpreter(head: bytes, environment: Mapping[str, str]) -> str | None:
    if not head.startswith(b"#!"):
        return None
    wrapped = _EXEC.search(head)
    words: Sequence[str] = (
        [wrapped[1].decode(errors="replace")]
        if wrapped
        else head.split(b"\n", 1)[0][2:].decode(errors="replace").split()
    )
    if words and os.path.basename(words[0]) == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        words = [shutil.which(named, path=environment.get("PATH", os.defpath)) or ""]
    return words[0] if words and _PYTHON.match(os.path.basename(words[0])) else None


def _changed_at(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
