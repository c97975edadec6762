"""Is the program of the command there, and if not, what was probably meant?"""

import difflib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from laststep.records.text import Text

LAUNCHERS = ("swift", "torchrun", "accelerate", "deepspeed", "llamafactory-cli", "axolotl", "python", "python3", "bash")
_NAMELESS = Text(
    en="The name of the program is empty. Name it after `--`: laststep run -- swift sft …",
    zh="程序名为空。请写在 `--` 之后：laststep run -- swift sft …",
)
_IN_THIS_FOLDER = Text(
    en="`{program}` is not on PATH, but a file of this folder. Write ./{program} to run it.",
    zh="`{program}` 不在 PATH 中，但当前目录下有同名文件。请写 ./{program} 运行。",
)
_NOT_ON_PATH = Text(en="`{program}` is not on PATH. {advice}", zh="`{program}` 不在 PATH 中。{advice}")
_FOLDER = Text(en="{program} is a folder, not a program.", zh="{program} 是目录，不是程序。")
_MISSING = Text(en="{program} does not exist.", zh="{program} 不存在。")
_NOT_EXECUTABLE = Text(
    en="{program} is not executable: chmod +x {program}", zh="{program} 没有执行权限：chmod +x {program}"
)
_PYTHON_NOT_EXECUTABLE = Text(
    en="{program} is not executable: run it with its interpreter: python {program}",
    zh="{program} 没有执行权限：请用解释器运行：python {program}",
)
_ACTIVATE = Text(
    en="Activate the environment it is installed in, or give its full path.", zh="请激活它所在的环境，或给出完整路径。"
)
_CHECK_SPELLING = Text(
    en="Check the spelling, or activate the environment it is installed in.", zh="请检查拼写，或激活它所在的环境。"
)
_DID_YOU_MEAN = Text(en="Did you mean `{name}`?", zh="是否想用 `{name}`？")
_DID_YOU_MEAN_ABSENT = Text(
    en="Did you mean `{name}`? That is not on PATH either; activate the environment it is installed in.",
    zh="是否想用 `{name}`？它也不在 PATH 中；请激活它所在的环境。",
)


def find_program_problem(program: str, *, cwd: Path, search_path: str) -> Text | None:
    """Say what is wrong with the program of a command; None when it can be started."""
    if not program:
        return _NAMELESS
    if "/" in program:
        return _path_problem(program, cwd / program)
    if shutil.which(program, path=search_path):
        return None
    if os.path.isfile(cwd / program):
        return _IN_THIS_FOLDER.fill(program=program)
    return _NOT_ON_PATH.fill(program=program, advice=_advice(program, search_path))


def _path_problem(program: str, path: Path) -> Text | None:
    if os.path.isdir(path):
        return _FOLDER.fill(program=program)
    if not os.path.exists(path):
        return _MISSING.fill(program=program)
    if not os.access(path, os.X_OK):
        words = _PYTHON_NOT_EXECUTABLE if path.suffix == ".py" else _NOT_EXECUTABLE
        return words.fill(program=program)
    return None


def _advice(program: str, search_path: str) -> Text:
    if program in LAUNCHERS:
        return _ACTIVATE
    close = difflib.get_close_matches(program, {*LAUNCHERS, *_programs(search_path)}, n=5, cutoff=0.7)
    # Launchers of trainings first: they are what people put behind laststep.
    close.sort(key=lambda name: name not in LAUNCHERS)
    if not close:
        return _CHECK_SPELLING
    words = _DID_YOU_MEAN if shutil.which(close[0], path=search_path) else _DID_YOU_MEAN_ABSENT
    return words.fill(name=close[0])


def _programs(search_path: str) -> Iterator[str]:
    for folder in search_path.split(os.pathsep):
        if folder and Path(folder).is_dir():
            yield from (entry.name for entry in Path(folder).iterdir())
