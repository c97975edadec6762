"""What was laststep asked to run?

| given | read as |
|---|---|
| `-- PROGRAM ARG…` | started as it stands, never through a shell; leading `NAME=value` words become variables |
| a file with a `#!` line | a script, run by the interpreter it names |
| a file, or one quoted argument, that holds one command | that command with its variables (`pasted_command.py`) |
| a `.sh` or executable file that needs a shell | a script, run by bash |
| other text that needs a shell | run by bash when it is one command of a program that exists; else refused |

Text that had to be repaired (typographic quotes, prompts, fences) never goes to bash, which would read it differently.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from laststep.planning.clean_paste import clean_paste
from laststep.planning.find_program_problem import find_program_problem
from laststep.planning.pasted_command import ASSIGNMENT, RESERVED, PastedText, SimpleCommand, read_pasted_command
from laststep.planning.read_script import ScriptFile, open_script, script_argv
from laststep.records.command import Command
from laststep.records.errors import CommandError
from laststep.records.outcome import ExitCode

SHELL_SUFFIXES = (".sh", ".bash")
MOST_TOLD = 5
NOTHING_GIVEN = "No command was given. Put it after `--`: laststep run -- swift sft --model … --dataset …"


def read_command(arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str] = os.environ) -> Command:
    """Read a command from the words after `--`, a script, or a file or text holding a pasted command."""
    assignments, words = _peel(arguments)
    if not words:
        raise CommandError(
            NOTHING_GIVEN if not assignments else f"Only variables were given, no command. {NOTHING_GIVEN}"
        )
    if len(words) == 1 and _is_text(words[0], cwd):
        return _read_text(words[0], "the text given", cwd=cwd, environment=environment)
    script = open_script(words[0], cwd=cwd, search_path=_search_path({}, environment))
    if script is not None and not script.starts_by_itself:
        return _read_script(script, words, assignments, cwd=cwd, environment=environment)
    return _checked(Command(tuple(words), environment=assignments), cwd, environment)


def _peel(arguments: Sequence[str]) -> tuple[dict[str, str], Sequence[str]]:
    assignments: dict[str, str] = {}
    for index, argument in enumerate(arguments):
        name, sign, value = argument.partition("=")
        if not sign or not ASSIGNMENT.fullmatch(name + sign):
            return assignments, arguments[index:]
        assignments[name] = value
    return assignments, []


def _is_text(argument: str, cwd: Path) -> bool:
    return len(argument.split()) > 1 and ("\n" in argument or not (cwd / argument).exists())


def _read_script(
    script: ScriptFile,
    words: Sequence[str],
    assignments: Mapping[str, str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
) -> Command:
    runs_as_script = Command(script_argv(script, words), environment=assignments, source=script.name)
    if script.interpreter is not None or len(words) > 1:
        return _checked(runs_as_script, cwd, environment)
    text = script.text()
    may_go_to_shell = script.is_executable or script.path.suffix in SHELL_SUFFIXES
    return _read_text(
        text, script.name, cwd=cwd, environment=environment, script=runs_as_script, is_script=may_go_to_shell
    )


def _read_text(  # noqa: PLR0913  # what is read, and the two worlds it is read in
    text: str,
    source: str,
    *,
    cwd: Path,
    environment: Mapping[str, str],
    script: Command | None = None,
    is_script: bool = False,
) -> Command:
    plain, taken = clean_paste(text)
    pasted = read_pasted_command(plain)
    _refuse_unclosed(pasted, plain, source)
    if not pasted.commands:
        raise CommandError(
            f"{source} holds no command, only {'variables' if pasted.exports else 'blank lines or comments'}."
        )
    if not pasted.needs_shell and len(pasted.commands) == 1:
        return _checked(_from_pasted(pasted, source, taken), cwd, environment)
    repairs = [*(f"{source}: {what}" for what in taken), *_told(pasted.repairs, source)]
    reasons = _told(_reasons(pasted), source)
    if repairs:
        raise CommandError(
            f"{source} needs a shell:", *reasons, "but a shell would stumble over:", *repairs,
            "Clean these places in the file, or give the command itself after `--`.",
        )  # fmt: skip
    if is_script or _is_one_known_command(pasted, cwd, environment):
        return script or Command(("bash", "-c", text), source=source)
    raise CommandError(
        f"{source} is not one command, and nothing says that it is a script:", *reasons,
        "Keep only the command, or name the file .sh to have bash run it.",
    )  # fmt: skip


def _refuse_unclosed(pasted: PastedText, text: str, source: str) -> None:
    # Inside a here-document or a nested expansion a lone quote can be right; bash will tell.
    is_nested = any(what.startswith(("<<", "$(", "${", "$'", "`")) for _, what in pasted.needs_shell)
    if pasted.unclosed is None or is_nested:
        return
    line, quote = pasted.unclosed
    shown = text.split("\n")[line - 1].strip()
    raise CommandError(
        f"{source}, line {line}: the quote {quote} never closes: {shown[:120]}", "Close it, and run again."
    )


def _reasons(pasted: PastedText) -> list[tuple[int, str]]:
    several = [(command.line, f"another command: {command.words[0]}") for command in pasted.commands[1:]]
    return sorted(pasted.needs_shell + several)


def _told(places: Sequence[tuple[int, str]], source: str) -> list[str]:
    """Tell the first few things, each with its lines; a whole chat read as shell has hundreds."""
    lines: dict[str, list[int]] = {}
    for line, what in dict.fromkeys(places):
        lines.setdefault(what, []).append(line)
    told = [f"{source}, {_lines(where)}: {what}" for what, where in lines.items()]
    more = len(told) - MOST_TOLD
    return told if more <= 0 else [*told[:MOST_TOLD], f"and {more} more"]


def _lines(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_TOLD])) + (", …" if len(numbers) > MOST_TOLD else "")
    return f"line {shown}" if len(numbers) == 1 else f"lines {shown}"


def _is_one_known_command(pasted: PastedText, cwd: Path, environment: Mapping[str, str]) -> bool:
    if len(pasted.commands) != 1 or pasted.commands[0].words[0] in RESERVED:
        return False
    program = pasted.commands[0].words[0]
    return find_program_problem(program, cwd=cwd, search_path=_search_path({}, environment)) is None


def _from_pasted(pasted: PastedText, source: str, taken: Sequence[str]) -> Command:
    command = pasted.commands[0]
    notes = [f"{source}: {what} was left out" for what in taken] + _told(pasted.repairs, source)
    words = list(command.words)
    if words[0] == "nohup" and len(words) > 1:
        words = words[1:]
        notes.append(f"{source}: nohup was left out; a closed terminal does not end a run of laststep")
    notes += _background_notes(command, source)
    return Command(
        tuple(words),
        environment=pasted.exports | command.assignments,
        source=source,
        background=command.background,
        output_file=command.output_file,
        output_appends=command.output_appends,
        notes=tuple(notes),
    )


def _background_notes(command: SimpleCommand, source: str) -> list[str]:
    if not command.background:
        return []
    return [f"{source}: `&` was left out; put it behind laststep itself to get the terminal back"]


def _checked(command: Command, cwd: Path, environment: Mapping[str, str]) -> Command:
    search_path = _search_path(command.environment, environment)
    problem = find_program_problem(command.argv[0], cwd=cwd, search_path=search_path)
    if problem is not None:
        where = "" if command.source == "the command line" else f"{command.source}: "
        raise CommandError(f"{where}{problem}", exit_code=_shell_code(command.argv[0], cwd))
    return command


def _shell_code(program: str, cwd: Path) -> int:
    """Give the code a shell would: 126 for what is there and cannot be executed, 127 for what is not there."""
    return ExitCode.NOT_EXECUTABLE if "/" in program and (cwd / program).exists() else ExitCode.NOT_FOUND


def _search_path(ours: Mapping[str, str], environment: Mapping[str, str]) -> str:
    return ours.get("PATH", environment.get("PATH", os.defpath))
