"""Which arguments of a command does the environment refuse that it is to run in?

Asking takes seconds, since the framework has to be imported; so an answer is kept until the environment, or one of the
files that its arguments come from, changes.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laststep.host.training_python import QUESTIONS, Environment, NoAnswerError
from laststep.planning.judge_arguments import judge_arguments
from laststep.planning.programs import Program, find_programs
from laststep.records.arguments import AcceptedArguments, Argument, ProgramArguments, ValueKind
from laststep.records.command import Command

_QUESTION = "accepted_arguments"
_COUNTS: Mapping[Any, tuple[int, int | None]] = {
    None: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None), "...": (0, None), "A...": (0, None),
}  # fmt: skip


def ask_arguments(
    command: Command, environment: Environment | None, *, answers: Path | None
) -> tuple[ProgramArguments, ...]:
    """Judge the arguments of every program of a command that can be asked for them."""
    if environment is None:
        return ()
    return tuple(_ask(program, command, environment, answers) for program in find_programs(command.argv))


def _ask(program: Program, command: Command, environment: Environment, answers: Path | None) -> ProgramArguments:
    try:
        accepted = read_answer(ask_once(environment, _QUESTION, program.entry, answers=answers))
    except NoAnswerError as error:
        return ProgramArguments(accepted=None, unanswered=error.text)
    problems = judge_arguments(command.argv, accepted, begin=program.begin, ends_at_script=program.ends_at_script)
    return ProgramArguments(accepted=accepted, problems=problems)


def read_answer(answer: Mapping[str, Any]) -> AcceptedArguments:
    """Read the answer of the program that was asked."""
    return AcceptedArguments(
        framework=answer["framework"],
        version=answer["version"],
        arguments=tuple(_read_argument(told) for told in answer["arguments"]),
    )


def _read_argument(told: Mapping[str, Any]) -> Argument:
    nargs = told["nargs"]
    least, most = (nargs, nargs) if isinstance(nargs, int) else _COUNTS[nargs]
    return Argument(
        names=tuple(told["names"]),
        least=least,
        most=most,
        choices=tuple(told["choices"]),
        kind=ValueKind(told["kind"]),
        default=told["default"],
    )


def ask_once(environment: Environment, question: str, *arguments: str, answers: Path | None) -> Any:
    """Ask, or take the answer that was given before. Raises NoAnswerError."""
    file = _name_answer(environment, question, arguments, answers) if answers is not None else None
    known = _read_known(file) if file is not None else None
    if known is not None:
        return known
    answer = environment.ask(question, *arguments)
    if file is not None:
        _keep(file, answer)
    return answer


def _name_answer(environment: Environment, question: str, arguments: tuple[str, ...], answers: Path) -> Path:
    program = (QUESTIONS / f"{question}.py").read_bytes()
    named = "\0".join([environment.identify(), question, *arguments]).encode()
    return answers / f"{question}-{hashlib.sha256(named + program).hexdigest()[:24]}.json"


def _read_known(file: Path) -> Any:
    try:
        kept = json.loads(file.read_bytes())
        is_current = all(os.stat(path).st_mtime_ns == changed for path, changed in kept["watched"].items())  # noqa: PTH116  # a name that stands in an answer
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return kept["answer"] if is_current else None


def _keep(file: Path, answer: Any) -> None:
    # A home that cannot be written costs some seconds, no more.
    with contextlib.suppress(OSError):
        watched = {path: os.stat(path).st_mtime_ns for path in answer.get("watched", ())}  # noqa: PTH116  # the same
        file.parent.mkdir(parents=True, exist_ok=True)
        half = file.with_suffix(f".{os.getpid()}")
        half.write_text(json.dumps({"answer": answer, "watched": watched}), encoding="utf-8")
        half.replace(file)
