"""Is this text one command with its variables, or a program for a shell?

One command: leading `NAME=value`, `export NAME=value`, `set -e`, `nohup`, its output in a file, `| tee FILE`, `&`.
Anything whose meaning only a shell can work out (`$NAME`, `$(…)`, pipes, `&&`, loops, `cd`, globs, a variable that is
not exported) is reported with its line, and the text is left to bash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from laststep.planning.shell_words import Kind, Piece, ShellText, split_shell_text
from laststep.records.text import Text

ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
RESERVED = frozenset(
    "! { } [[ if then elif else fi for while until do done case esac select function time coproc "
    ". : alias bg bind builtin cd command declare dirs disown echo eval exec exit fg hash jobs let local mapfile popd "
    "printf pushd read readonly return shift shopt sleep source test trap type typeset ulimit umask unalias unset wait "
    "conda module".split()
)
_REDIRECTION = re.compile(r"(\d*)(&>>|&>|>>|>\||>&|>|<)$")

_NOT_EXPORTED = Text(en="{name}=… without export", zh="{name}=… 没有 export")
_DASH_FIRST = Text(
    en="a line that begins with a dash read as part of the command above", zh="以连字符开头的行并入上一条命令"
)


@dataclass(slots=True)
class SimpleCommand:
    """A command without anything around it."""

    line: int
    assignments: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    output_file: str | None = None
    output_appends: bool = False
    background: bool = False


@dataclass(slots=True)
class PastedText:
    """What a text asks for, as far as it can be told without a shell."""

    commands: list[SimpleCommand] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)  # those before the first command
    needs_shell: list[tuple[int, str | Text]] = field(default_factory=list)  # a piece of the text, or words about it
    repairs: list[tuple[int, Text]] = field(default_factory=list)
    unclosed: tuple[int, str] | None = None


def read_pasted_command(text: str) -> PastedText:
    """Take a text apart into its commands and variables."""
    split = split_shell_text(text)
    found = PastedText(needs_shell=list(split.needs_shell), repairs=list(split.repairs), unclosed=split.unclosed)
    for statement in _statements(split, found):
        _sort_statement(statement, found)
    return found


@dataclass(slots=True)
class _Statement:
    pieces: list[Piece] = field(default_factory=list)
    output_file: str | None = None
    output_appends: bool = False
    background: bool = False


def _statements(split: ShellText, found: PastedText) -> Iterator[_Statement]:
    pieces = iter(split.pieces)
    statement = _Statement()
    for piece in pieces:
        if piece.kind is Kind.WORD:
            statement.pieces.append(piece)
            continue
        if piece.kind is Kind.LINE_END or piece.text in (";", "&"):
            statement.background = piece.text == "&"
            yield statement
            statement = _Statement()
        elif _REDIRECTION.match(piece.text):
            _redirect(piece, next(pieces, None), statement, found)
        elif piece.text in ("|", "|&") and (ends_here := _tee(pieces, statement)) is not None:
            yield statement
            statement = _Statement()
            if not ends_here:
                found.needs_shell.append((piece.line, piece.text))
        else:
            found.needs_shell.append((piece.line, piece.text))
    yield statement


def _redirect(operator: Piece, target: Piece | None, statement: _Statement, found: PastedText) -> None:
    match = _REDIRECTION.match(operator.text)
    number, arrow = match.groups() if match else ("", "")
    if target is None or target.kind is not Kind.WORD:
        found.needs_shell.append((operator.line, operator.text))
    elif (number, arrow, target.text) == ("2", ">&", "1") or (arrow, target.text) == ("<", "/dev/null"):
        return  # laststep keeps both streams together, as here; an empty standard input is harmless to a training
    elif number in ("", "1") and arrow != "<" and not (arrow == ">&" and target.text.isdigit()):
        statement.output_file, statement.output_appends = target.text, arrow.endswith(">>")
    else:
        found.needs_shell.append((operator.line, f"{operator.text} {target.text}"))


def _tee(pieces: Iterator[Piece], statement: _Statement) -> bool | None:
    """Read `tee [-a] FILE` up to the end of the line; False when something else stands there."""
    words: list[str] = []
    for piece in pieces:
        if piece.kind is Kind.LINE_END or piece.text == "&":
            statement.background = piece.text == "&"
            break
        words.append(piece.text if piece.kind is Kind.WORD else "|")
    appends = words[1:2] == ["-a"]
    if words[:1] != ["tee"] or len(words) != 2 + appends or "|" in words:
        return False
    statement.output_file, statement.output_appends = words[-1], appends
    return True


def _sort_statement(statement: _Statement, found: PastedText) -> None:
    assignments, words = _peel(statement.pieces)
    if not words:
        for name in assignments:
            # As in a shell: without `export` the command would not see it.
            found.needs_shell.append((statement.pieces[0].line, _NOT_EXPORTED.fill(name=name)))
    elif words[0].text == "export":
        _export(words[1:], found)
    elif words[0].text == "set" and not assignments:
        pass  # options of the shell; one command has no use for them
    elif words[0].text in RESERVED and words[0].bare == len(words[0].text):
        found.needs_shell.append((words[0].line, words[0].text))
        found.commands.append(SimpleCommand(words[0].line, assignments, [word.text for word in words]))
    elif words[0].text.startswith("-") and found.commands:
        found.repairs.append((words[0].line, _DASH_FIRST))
        found.commands[-1].words += [word.text for word in words]
        _finish(found.commands[-1], statement)
    else:
        command = SimpleCommand(statement.pieces[0].line, assignments, [word.text for word in words])
        _finish(command, statement)
        found.commands.append(command)


def _peel(pieces: list[Piece]) -> tuple[dict[str, str], list[Piece]]:
    """Take the leading assignments off; a quoted `=` makes a word of it, as in a shell."""
    assignments: dict[str, str] = {}
    for index, piece in enumerate(pieces):
        match = ASSIGNMENT.match(piece.text)
        if match is None or match.end() > piece.bare:
            return assignments, pieces[index:]
        assignments[match.group()[:-1]] = piece.text[match.end() :]
    return assignments, []


def _export(words: list[Piece], found: PastedText) -> None:
    exports, rest = _peel(words)
    for word in rest:
        found.needs_shell.append((word.line, f"export {word.text}"))
    if not found.commands:
        found.exports |= exports


def _finish(command: SimpleCommand, statement: _Statement) -> None:
    command.background = statement.background
    if statement.output_file is not None:
        command.output_file, command.output_appends = statement.output_file, statement.output_appends
