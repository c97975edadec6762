"""Is the first word of the command a file to be read, and who runs it?"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from laststep.records.errors import CommandError
from laststep.records.text import Text

LONGEST_SCRIPT_BYTES = 1 << 20  # nobody writes a command of a megabyte; a data set or a log is meant
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_NOT_UTF_8 = Text(
    en="{name}, line {line}: not UTF-8 text. Convert it: iconv -f GBK -t UTF-8 {name}",
    zh="{name}，第 {line} 行：不是 UTF-8 文本。转换编码：iconv -f GBK -t UTF-8 {name}",
)
_FOLDER = Text(
    en="{name} is a folder. Give the script inside it, or the command itself after `--`.",
    zh="{name} 是目录。请给出其中的脚本，或在 `--` 之后直接写命令。",
)
_NOT_PERMITTED = Text(
    en="{name} cannot be read: permission denied. Allow it: chmod u+r {name}",
    zh="无法读取 {name}：权限不足。授予读权限：chmod u+r {name}",
)
_NOT_READABLE = Text(en="{name} cannot be read: {problem}.", zh="无法读取 {name}：{problem}。")
_EMPTY = Text(
    en="{name} is empty. Put the command into it, or give it after `--`.",
    zh="{name} 为空。请把命令写入其中，或写在 `--` 之后。",
)
_BINARY = Text(
    en="{name} is a binary file, neither a script nor a pasted command.",
    zh="{name} 是二进制文件，既不是脚本，也不是粘贴的命令。",
)
_TOO_LONG = Text(
    en="{name} has more than {most:,} bytes: no script, nor a pasted command.",
    zh="{name} 超过 {most:,} 字节：既不是脚本，也不是粘贴的命令。",
)
_WINDOWS_LINE_ENDS = Text(
    en="{name} has Windows line ends, which no interpreter takes. Convert it: sed -i 's/\\r$//' {name}",
    zh="{name} 使用 Windows 换行符，解释器无法识别。转换：sed -i 's/\\r$//' {name}",
)
_NO_INTERPRETER = Text(
    en="{name}, line 1: `#!` names no interpreter. Write one behind it: #!/bin/bash",
    zh="{name}，第 1 行：`#!` 没有指定解释器。请在其后写上：#!/bin/bash",
)
_PYTHON_PROGRAM = Text(
    en="{name} is a Python program. Run it with its interpreter: laststep run -- python {name}",
    zh="{name} 是 Python 程序。请用解释器运行：laststep run -- python {name}",
)


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A file that was given in the place of a command."""

    name: str  # as typed
    path: Path
    content: bytes
    is_executable: bool

    @property
    def interpreter(self) -> tuple[str, ...] | None:
        """What the `#!` line names: a program and at most one argument, as the kernel reads it."""
        if not self.content.startswith(b"#!"):
            return None
        line = self.content.split(b"\n", 1)[0][2:].strip()
        return tuple(part.decode("utf-8", "surrogateescape") for part in line.split(None, 1))

    @property
    def starts_by_itself(self) -> bool:
        """True for what the kernel starts: a program, or an executable script that names its interpreter."""
        return self.is_executable and (self.is_program or ("/" in self.name and self.interpreter is not None))

    @property
    def is_program(self) -> bool:
        return b"\0" in self.content[:8192] and self.content[:2] not in UTF_16_MARKS

    def text(self) -> str:
        encoding = "utf-16" if self.content[:2] in UTF_16_MARKS else "utf-8"
        try:
            return self.content.decode(encoding)
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise CommandError(_NOT_UTF_8.fill(name=self.name, line=line)) from error


def open_script(name: str, *, cwd: Path, search_path: str) -> ScriptFile | None:
    """Open the file that stands where the program should; None when it is a program of PATH or no file at all."""
    path = cwd / name
    # os.path.exists, unlike Path's, says no to a name that is too long to be one: a whole command in quotes, say.
    if not name or ("/" not in name and shutil.which(name, path=search_path)) or not os.path.exists(path):
        return None
    if os.path.isdir(path):
        raise CommandError(_FOLDER.fill(name=name))
    script = ScriptFile(name, path, _read(name, path), os.access(path, os.X_OK))
    _refuse_unreadable(script)
    return script


def script_argv(script: ScriptFile, words: Sequence[str]) -> tuple[str, ...]:
    """Write how a script is started: by the interpreter that it names, or by bash."""
    name = f"./{script.name}" if script.name.startswith("-") else script.name
    return (*(script.interpreter or ("bash",)), name, *words[1:])


def _read(name: str, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_SCRIPT_BYTES + 1)
    except PermissionError as error:
        if os.access(path, os.X_OK):
            return b"\0"  # a program may be executable and not readable
        raise CommandError(_NOT_PERMITTED.fill(name=name)) from error
    except OSError as error:
        raise CommandError(_NOT_READABLE.fill(name=name, problem=error.strerror)) from error
    return content


def _refuse_unreadable(script: ScriptFile) -> None:
    content, name = script.content, script.name
    if script.is_executable and script.is_program:
        return
    if not content.strip():
        raise CommandError(_EMPTY.fill(name=name))
    if script.is_program:
        raise CommandError(_BINARY.fill(name=name))
    if len(content) > LONGEST_SCRIPT_BYTES:
        raise CommandError(_TOO_LONG.fill(name=name, most=LONGEST_SCRIPT_BYTES))
    if script.interpreter is not None and content.split(b"\n", 1)[0].endswith(b"\r"):
        raise CommandError(_WINDOWS_LINE_ENDS.fill(name=name))
    if script.interpreter == ():
        raise CommandError(_NO_INTERPRETER.fill(name=name))
    if script.interpreter is None and script.path.suffix == ".py":
        raise CommandError(_PYTHON_PROGRAM.fill(name=name))
