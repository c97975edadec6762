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
from laststep.planning.pasted_command import ASSIGNMENT, RESERVED, PastedText, read_pasted_command
from laststep.planning.read_script import ScriptFile, open_script, script_argv
from laststep.records.command import COMMAND_LINE, Command
from laststep.records.errors import CommandError
from laststep.records.outcome import ExitCode
from laststep.records.text import Text

SHELL_SUFFIXES = (".sh", ".bash")
MOST_TOLD = 5
_GIVEN_TEXT = Text(en="the text given", zh="给出的文本")
_NOTHING_GIVEN = Text(
    en="No command was given. Put it after `--`: laststep run -- swift sft --model … --dataset …",
    zh="没有给出命令。请写在 `--` 之后：laststep run -- swift sft --model … --dataset …",
)
_ONLY_VARIABLES_GIVEN = Text(
    en="Only variables were given, no command. {nothing_given}", zh="只给出了变量，没有命令。{nothing_given}"
)
_ONLY_VARIABLES = Text(en="{source} holds no command, only variables.", zh="{source}：没有命令，只有变量。")
_ONLY_BLANKS = Text(
    en="{source} holds no command, only blank lines or comments.", zh="{source}：没有命令，只有空行或注释。"
)
_NEEDS_SHELL = Text(en="{source} needs a shell:", zh="{source}：需要 shell 才能执行：")
_STUMBLES = Text(en="but a shell would stumble over:", zh="但 shell 无法正确读取：")
_CLEAN = Text(
    en="Clean these places in the file, or give the command itself after `--`.",
    zh="请清理文件中的这些位置，或在 `--` 之后直接写命令。",
)
_NO_SCRIPT = Text(
    en="{source} is not one command, and nothing says that it is a script:",
    zh="{source}：不是单条命令，也无法判定为脚本：",
)
_KEEP_OR_NAME = Text(
    en="Keep only the command, or name the file .sh to have bash run it.",
    zh="请只保留命令，或将文件命名为 .sh 交给 bash 运行。",
)
_UNCLOSED = Text(
    en="{source}, line {line}: the quote {quote} never closes: {shown}",
    zh="{source}，第 {line} 行：引号 {quote} 没有闭合：{shown}",
)
_CLOSE_IT = Text(en="Close it, and run again.", zh="请补上引号后重新运行。")
_ANOTHER = Text(en="another command: {program}", zh="另一条命令：{program}")
_IN_LINE = Text(en="{source}, line {numbers}: {what}", zh="{source}，第 {numbers} 行：{what}")
_IN_LINES = Text(en="{source}, lines {numbers}: {what}", zh="{source}，第 {numbers} 行：{what}")
_MORE = Text(en="and {count} more", zh="另有 {count} 处")
_IN_SOURCE = Text(en="{source}: {what}", zh="{source}：{what}")
_LEFT_OUT = Text(en="{source}: {what} was left out", zh="{source}：{what}已去掉")
_NOHUP = Text(
    en="{source}: nohup was left out; a closed terminal does not end a run of laststep",
    zh="{source}：已去掉 nohup；关闭终端不会结束 laststep 的运行",
)
_BACKGROUND = Text(
    en="{source}: `&` was left out; put it behind laststep itself to get the terminal back",
    zh="{source}：已去掉 `&`；如需释放终端，请写在 laststep 命令末尾",
)


def read_command(arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str] = os.environ) -> Command:
    """Read a command from the words after `--`, a script, or a file or text holding a pasted command."""
    assignments, words = _peel(arguments)
    if not words:
        only_variables = _ONLY_VARIABLES_GIVEN.fill(nothing_given=_NOTHING_GIVEN)
        raise CommandError(only_variables if assignments else _NOTHING_GIVEN)
    if len(words) == 1 and _is_text(words[0], cwd):
        return _read_text(words[0], _GIVEN_TEXT, cwd=cwd, environment=environment)
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
    return len(argument.split()) > 1 and ("\n" in argument or not os.path.exists(cwd / argument))


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
    source: str | Text,
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
        raise CommandError((_ONLY_VARIABLES if pasted.exports else _ONLY_BLANKS).fill(source=source))
    if not pasted.needs_shell and len(pasted.commands) == 1:
        return _checked(_from_pasted(pasted, source, taken), cwd, environment)
    repairs = [*(_IN_SOURCE.fill(source=source, what=what) for what in taken), *_told(pasted.repairs, source)]
    reasons = _told(_reasons(pasted), source)
    if repairs:
        raise CommandError(
            _NEEDS_SHELL.fill(source=source), *reasons, _STUMBLES, *repairs, _CLEAN,
        )  # fmt: skip
    if is_script or _is_one_known_command(pasted, cwd, environment):
        return script or Command(("bash", "-c", text), source=source)
    raise CommandError(_NO_SCRIPT.fill(source=source), *reasons, _KEEP_OR_NAME)


def _refuse_unclosed(pasted: PastedText, text: str, source: str | Text) -> None:
    # Inside a here-document or a nested expansion a lone quote can be right; bash will tell.
    is_nested = any(
        isinstance(what, str) and what.startswith(("<<", "$(", "${", "$'", "`")) for _, what in pasted.needs_shell
    )
    if pasted.unclosed is None or is_nested:
        return
    line, quote = pasted.unclosed
    shown = text.split("\n")[line - 1].strip()
    raise CommandError(_UNCLOSED.fill(source=source, line=line, quote=quote, shown=shown[:120]), _CLOSE_IT)


def _reasons(pasted: PastedText) -> list[tuple[int, str | Text]]:
    several = [(command.line, _ANOTHER.fill(program=command.words[0])) for command in pasted.commands[1:]]
    return sorted([*pasted.needs_shell, *several], key=lambda place: place[0])


def _told(places: Sequence[tuple[int, str | Text]], source: str | Text) -> list[Text]:
    """Tell the first few things, each with its lines; a whole chat read as shell has hundreds."""
    lines: dict[str | Text, list[int]] = {}
    for line, what in dict.fromkeys(places):
        lines.setdefault(what, []).append(line)
    told = [_tell_place(source, where, what) for what, where in lines.items()]
    more = len(told) - MOST_TOLD
    return told if more <= 0 else [*told[:MOST_TOLD], _MORE.fill(count=more)]


def _tell_place(source: str | Text, numbers: Sequence[int], what: str | Text) -> Text:
    shown = ", ".join(map(str, numbers[:MOST_TOLD])) + (", …" if len(numbers) > MOST_TOLD else "")
    return (_IN_LINE if len(numbers) == 1 else _IN_LINES).fill(source=source, numbers=shown, what=what)


def _is_one_known_command(pasted: PastedText, cwd: Path, environment: Mapping[str, str]) -> bool:
    if len(pasted.commands) != 1 or pasted.commands[0].words[0] in RESERVED:
        return False
    program = pasted.commands[0].words[0]
    return find_program_problem(program, cwd=cwd, search_path=_search_path({}, environment)) is None


def _from_pasted(pasted: PastedText, source: str | Text, taken: Sequence[Text]) -> Command:
    command = pasted.commands[0]
    notes = [_LEFT_OUT.fill(source=source, what=what) for what in taken] + _told(pasted.repairs, source)
    words = list(command.words)
    if words[0] == "nohup" and len(words) > 1:
        words = words[1:]
        notes.append(_NOHUP.fill(source=source))
    if command.background:
        notes.append(_BACKGROUND.fill(source=source))
    return Command(
        tuple(words),
        environment=pasted.exports | command.assignments,
        source=source,
        background=command.background,
        output_file=command.output_file,
        output_appends=command.output_appends,
        notes=tuple(notes),
    )


def _checked(command: Command, cwd: Path, environment: Mapping[str, str]) -> Command:
    search_path = _search_path(command.environment, environment)
    problem = find_program_problem(command.argv[0], cwd=cwd, search_path=search_path)
    if problem is not None:
        if command.source != COMMAND_LINE:
            problem = _IN_SOURCE.fill(source=command.source, what=problem)
        raise CommandError(problem, exit_code=_shell_code(command.argv[0], cwd))
    return command


def _shell_code(program: str, cwd: Path) -> int:
    """Give the code a shell would: 126 for what is there and cannot be executed, 127 for what is not there."""
    return ExitCode.NOT_EXECUTABLE if "/" in program and os.path.exists(cwd / program) else ExitCode.NOT_FOUND


def _search_path(ours: Mapping[str, str], environment: Mapping[str, str]) -> str:
    return ours.get("PATH", environment.get("PATH", os.defpath))
