r"""Where do the words of a shell command begin and end, and which parts of it only a shell can work out?

Reads text as bash would, and besides what only pasted text has: non-breaking spaces, typographic dashes and quotes, and
a backslash whose line end was lost on the way (`768 \ NAME=10`). Expansions are not carried out: they are reported.
"""

import re
from dataclasses import dataclass, field
from enum import Enum

from laststep.records.text import Text

OPERATOR = re.compile(r"&>>|&>|&&|\|\||\|&|;;|<<<|<<-?|<&|>&|>>|<>|>\||[|&;()<>]")
BLANKS = " \t\u00a0\u3000\u2002\u2003\u2009\u202f"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
LONG_DASHES = "\u2013\u2014\u2015"  # what an editor makes of `--`
SHORT_DASHES = "\u2010\u2011\u2212\ufe63\uff0d"  # what it makes of `-`
DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f"
SINGLE_QUOTES = "\u2018\u2019\u201a\u201b"
_LOST_LINE_END = re.compile(r"\\[ \t\u00a0]+(?=--|[A-Za-z_]\w*=|$)", re.MULTILINE)
_EXPANSION = re.compile(r"\$[\w{(\"'@*#?!$-]|`")
_BRACES = re.compile(r"\{[^{}\s]*(,|\.\.)[^{}\s]*\}")

_BLANK = Text(en="a non-breaking space read as a space", zh="不间断空格按普通空格读取")
_INVISIBLE_CHARACTER = Text(en="an invisible character left out", zh="去掉了不可见字符")
_LINE_END_LOST = Text(en="a backslash that has lost its line end read as a line end", zh="丢失换行的反斜杠按续行读取")
_QUOTE = Text(en="a typographic quote ({quote}) read as a plain one", zh="弯引号（{quote}）按直引号读取")
_DASH = Text(en="a typographic dash ({dash}) read as a plain one", zh="特殊横线（{dash}）按普通连字符读取")


class Kind(Enum):
    """What a piece of shell text is."""

    WORD = "word"
    OPERATOR = "operator"
    LINE_END = "line end"


@dataclass(frozen=True, slots=True)
class Piece:
    """One word or operator, with the line it began on."""

    kind: Kind
    text: str
    line: int
    bare: int = 0  # so many characters at its front were written without quotes


@dataclass(slots=True)
class ShellText:
    """A text taken apart."""

    pieces: list[Piece] = field(default_factory=list)
    needs_shell: list[tuple[int, str]] = field(default_factory=list)  # (line, what) that only a shell can work out
    repairs: list[tuple[int, Text]] = field(default_factory=list)  # (line, what) that a shell would read differently
    unclosed: tuple[int, str] | None = None  # (line, quote) that never closes


def split_shell_text(text: str) -> ShellText:
    """Take a text apart into words and operators."""
    return _Splitter(text).split()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._word: list[str] | None = None  # None between words
        self._word_line = 1
        self._bare: int | None = None  # None while everything of the word so far was bare
        self._found = ShellText()

    def split(self) -> ShellText:
        while self._at < len(self._text) and self._found.unclosed is None:
            self._step(self._text[self._at])
        self._end_word()
        return self._found

    def _step(self, character: str) -> None:  # noqa: C901  # one branch for each kind of character, as in the shell's own grammar
        if character == "\n":
            self._end_word()
            self._push(Kind.LINE_END, "\n")
            self._skip(1)
        elif character in BLANKS:
            if character not in " \t":
                self._repair(_BLANK)
            self._end_word()
            self._skip(1)
        elif character in INVISIBLE:
            self._repair(_INVISIBLE_CHARACTER)
            self._skip(1)
        elif character == "#" and self._word is None:
            self._skip(len(self._text[self._at :].split("\n", 1)[0]))
        elif character == "\\":
            self._backslash()
        elif character in "'\"":
            self._quoted(character, character)
        elif character in DOUBLE_QUOTES + SINGLE_QUOTES and self._quote_may_open():
            self._typographic_quoted(character)
        elif character in LONG_DASHES + SHORT_DASHES and self._in_flag_name():
            self._dash(character)
        elif (operator := OPERATOR.match(self._text, self._at)) is not None:
            self._operator(operator.group())
        else:
            self._report_expansion(character)
            self._add(character, bare=True)
            self._skip(1)

    def _backslash(self) -> None:
        rest = self._text[self._at + 1 : self._at + 2]
        lost = _LOST_LINE_END.match(self._text, self._at)
        if rest == "\n":
            self._skip(2)
        elif rest and rest in BLANKS and (self._word is None or lost):
            self._repair(_LINE_END_LOST)
            self._end_word()
            # Blanks up to the end of the line belong to it: what follows them continues the command.
            blanks = len(self._text[self._at + 1 :]) - len(self._text[self._at + 1 :].lstrip(BLANKS))
            after = self._text[self._at + 1 + blanks : self._at + 2 + blanks]
            self._skip(1 + blanks + (after == "\n"))
        elif rest:
            self._add(rest, bare=False)
            self._skip(2)
        else:
            self._skip(1)  # the last character of the text: nothing follows, nothing is lost

    def _quoted(self, opening: str, closing: str) -> None:
        start, self._word = self._line, self._word if self._word is not None else self._begin()
        self._mark_quoted()
        self._skip(1)
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in closing:
                self._skip(1)
                return
            if opening == '"':
                character = self._inside_double_quotes(character)
            self._word.append(character)
            self._skip(1)
        self._found.unclosed = (start, opening)

    def _inside_double_quotes(self, character: str) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if character == "\\" and following and following in '"\\$`\n':
            self._skip(1)
            return "" if following == "\n" else following
        is_plain_dollar = character == "$" and following in ("", '"', "'")
        if _EXPANSION.match(self._text, self._at) and not is_plain_dollar:
            self._needs_shell(self._text[self._at :].split("\n")[0][:20])
        return character

    def _typographic_quoted(self, opening: str) -> None:
        self._repair(_QUOTE.fill(quote=opening))
        self._quoted(opening, DOUBLE_QUOTES + '"' if opening in DOUBLE_QUOTES else SINGLE_QUOTES + "'")

    def _dash(self, character: str) -> None:
        self._repair(_DASH.fill(dash=character))
        following = self._text[self._at + 1 : self._at + 3]
        is_long = character in LONG_DASHES and self._word is None and len(following) == 2 and following.isalnum()
        self._add("--" if is_long else "-", bare=True)
        self._skip(1)

    def _operator(self, operator: str) -> None:
        # A number that touches a redirection is the file it redirects: `2>&1`.
        if self._word and self._bare is None and "".join(self._word).isdigit() and operator[0] in "<>":
            operator, self._word = "".join(self._word) + operator, None
            skip = len(operator) - len(operator.lstrip("0123456789"))
            self._push(Kind.OPERATOR, operator)
            self._skip(len(operator) - skip)
            return
        self._end_word()
        self._push(Kind.OPERATOR, operator)
        self._skip(len(operator))

    def _report_expansion(self, character: str) -> None:
        here = self._text[self._at : self._at + 20].split()[0]
        if character == "~":
            # Only at the front of a word, or behind the `=` or a `:` of an assignment.
            expands = self._word is None or self._word[-1:] in (["="], [":"])
        elif character == "{":
            expands = _BRACES.match(self._text, self._at) is not None
        elif character in "$`":
            expands = _EXPANSION.match(self._text, self._at) is not None
        else:
            expands = character in "*?["
        if expands:
            self._needs_shell(here)

    def _in_flag_name(self) -> bool:
        return self._word is None or ((self._word[:1] == ["-"] or self._word[:1] == ["--"]) and "=" not in self._word)

    def _quote_may_open(self) -> bool:
        return self._word is None or self._word[-1:] == ["="]

    def _begin(self) -> list[str]:
        self._word, self._word_line, self._bare = [], self._line, None
        return self._word

    def _add(self, character: str, *, bare: bool) -> None:
        word = self._word if self._word is not None else self._begin()
        if not bare:
            self._mark_quoted()
        word.append(character)

    def _mark_quoted(self) -> None:
        if self._bare is None and self._word is not None:
            self._bare = len("".join(self._word))

    def _end_word(self) -> None:
        if self._word is None:
            return
        text = "".join(self._word)
        bare = len(text) if self._bare is None else self._bare
        self._found.pieces.append(Piece(Kind.WORD, text, self._word_line, bare))
        self._word = None

    def _push(self, kind: Kind, text: str) -> None:
        self._found.pieces.append(Piece(kind, text, self._line))

    def _skip(self, count: int) -> None:
        self._line += self._text.count("\n", self._at, self._at + count)
        self._at += count

    def _repair(self, what: Text) -> None:
        self._found.repairs.append((self._line, what))

    def _needs_shell(self, what: str) -> None:
        self._found.needs_shell.append((self._line, what))
