"""Is the first word of the command a file to be read, and who runs it?"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from laststep.records.errors import CommandError

LONGEST_SCRIPT_BYTES = 1 << 20  # nobody writes a command of a megabyte; a data set or a log is meant
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
            raise CommandError(
                f"{self.name}, line {line}: not UTF-8 text. Convert it: iconv -f GBK -t UTF-8 {self.name}"
            ) from error


def open_script(name: str, *, cwd: Path, search_path: str) -> ScriptFile | None:
    """Open the file that stands where the program should; None when it is a program of PATH or no file at all."""
    path = cwd / name
    if not name or ("/" not in name and shutil.which(name, path=search_path)) or not path.exists():
        return None
    if path.is_dir():
        raise CommandError(f"{name} is a folder. Give the script inside it, or the command itself after `--`.")
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
        raise CommandError(f"{name} cannot be read: permission denied. Allow it: chmod u+r {name}") from error
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    return content


def _refuse_unreadable(script: ScriptFile) -> None:
    content, name = script.content, script.name
    if script.is_executable and script.is_program:
        return
    if not content.strip():
        raise CommandError(f"{name} is empty. Put the command into it, or give it after `--`.")
    if script.is_program:
        raise CommandError(f"{name} is a binary file, neither a script nor a pasted command.")
    if len(content) > LONGEST_SCRIPT_BYTES:
        raise CommandError(f"{name} has more than {LONGEST_SCRIPT_BYTES:,} bytes: no script, nor a pasted command.")
    if script.interpreter is not None and content.split(b"\n", 1)[0].endswith(b"\r"):
        raise CommandError(
            f"{name} has Windows line ends, which no interpreter takes. Convert it: sed -i 's/\\r$//' {name}"
        )
    if script.interpreter == ():
        raise CommandError(f"{name}, line 1: `#!` names no interpreter. Write one behind it: #!/bin/bash")
    if script.interpreter is None and script.path.suffix == ".py":
        raise CommandError(f"{name} is a Python program. Run it with its interpreter: laststep run -- python {name}")
