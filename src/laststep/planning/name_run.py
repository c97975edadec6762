"""What does the command train, and where does it put it?

For naming a run and for noticing two runs in one folder. The flags are those that ms-swift, transformers, TRL and
LLaMA-Factory share.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import read_flag
from laststep.records.command import Command

OUTPUT_FLAGS = ("--output_dir", "--output-dir")
MODEL_FLAGS = ("--model", "--model_name_or_path", "--model-name-or-path", "--model_id_or_path")
LONGEST_NAME = 40  # characters; a folder name has room for a date and an id besides


def output_folder(command: Command) -> str | None:
    """Give the folder that the command names for its checkpoints; None when it names none."""
    return read_flag(command.argv, OUTPUT_FLAGS)


def model_name(command: Command) -> str:
    """Give a short name of what is trained, fit for a file name; the program's or script's when no model is named."""
    path = read_flag(command.argv, MODEL_FLAGS) or _program(command.argv)
    name = re.sub(r"[^\w.+-]+", "-", PurePath(path).name).strip("-.")
    return name[:LONGEST_NAME] or "run"


def _program(argv: Sequence[str]) -> str:
    script = next((word for word in argv[1:] if word.endswith((".sh", ".py"))), argv[0])
    return PurePath(script).stem
