"""Which checkpoints are there?"""

import os
import re
from pathlib import Path

from laststep.records.errors import CheckpointError
from laststep.records.text import Text

# As transformers names checkpoints, and ms-swift the folder of each launch.
CHECKPOINT_NAME = re.compile(r"checkpoint-(\d{1,18})")
LAUNCH_NAME = re.compile(r"v(\d{1,9})-\d{8}-\d{6}")
# One of these makes a folder a checkpoint, whatever it is called.
SIGNS = frozenset(
    "trainer_state.json adapter_config.json optimizer.pt scheduler.pt .metadata latest training_args.bin "
    "model.safetensors model.safetensors.index.json pytorch_model.bin pytorch_model.bin.index.json".split()
)

_ABSENT = Text(
    en="{path} does not exist. Name an output folder or a checkpoint in it.",
    zh="{path} 不存在。请指定输出目录或其中的检查点。",
)
_NO_FOLDER = Text(
    en="{path} is a file, and checkpoints are folders. Name an output folder or a checkpoint in it.",
    zh="{path} 是文件，而检查点是目录。请指定输出目录或其中的检查点。",
)
_CLOSED = Text(
    en="{path} cannot be looked into: {reason}. Try as the user who trained, or mend the path.",
    zh="无法查看 {path}：{reason}。请以训练时的用户身份重试，或修正路径。",
)


def find_checkpoints(path: Path) -> tuple[Path, ...]:
    """Give the checkpoints of an output folder and of the launches below it, newest first; or the path itself."""
    names = _list_folders(path)
    if CHECKPOINT_NAME.fullmatch(path.name) or _is_checkpoint(path, names):
        return (path,)
    direct = _by_step(path, names)
    launches = sorted((name for name in names if LAUNCH_NAME.fullmatch(name)), key=_launch_number, reverse=True)
    below = [checkpoint for launch in launches for checkpoint in _look_below(path / launch)]
    # Both are there when a flag was changed between launches: the side that was written last goes first.
    if direct and below and _changed_at(below[0]) > _changed_at(direct[0]):
        return (*below, *direct)
    return (*direct, *below)


def read_step(path: Path) -> int | None:
    """Read the step out of a checkpoint's name."""
    named = CHECKPOINT_NAME.fullmatch(path.absolute().name)  # typed as `.` it has no name
    return int(named[1]) if named else None


def look_into(path: Path) -> None:
    """Raise an error that says what to do where a path is no folder that can be looked into."""
    _list_folders(path)


def is_checkpoint(path: Path) -> bool:
    """Tell whether a folder is a checkpoint, by its name or by what lies in it."""
    return bool(CHECKPOINT_NAME.fullmatch(path.name)) or _is_checkpoint(path, ())


def _is_checkpoint(path: Path, folders: tuple[str, ...]) -> bool:
    # An output folder may hold the final weights beside its checkpoints; then the checkpoints are meant.
    if any(CHECKPOINT_NAME.fullmatch(name) or LAUNCH_NAME.fullmatch(name) for name in folders):
        return False
    return any(os.path.lexists(path / sign) for sign in SIGNS)


def _list_folders(path: Path) -> tuple[str, ...]:
    try:
        with os.scandir(path) as entries:
            return tuple(entry.name for entry in entries if _is_folder(entry))
    except FileNotFoundError:
        raise CheckpointError(_ABSENT.fill(path=path)) from None
    except NotADirectoryError:
        raise CheckpointError(_NO_FOLDER.fill(path=path)) from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise CheckpointError(_CLOSED.fill(path=path, reason=reason)) from error


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _look_below(launch: Path) -> list[Path]:
    try:
        return _by_step(launch, _list_folders(launch))
    except CheckpointError:  # somebody else's launch; those that can be read still count
        return []


def _by_step(folder: Path, names: tuple[str, ...]) -> list[Path]:
    found = [folder / name for name in names if CHECKPOINT_NAME.fullmatch(name)]
    return sorted(found, key=lambda path: read_step(path) or 0, reverse=True)


def _launch_number(name: str) -> tuple[int, str]:
    launch = LAUNCH_NAME.fullmatch(name)
    return (int(launch[1]) if launch else -1, name)


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
