"""How does Axolotl take a run up again?

Any key of its file is also an option: `axolotl train config.yml --resume-from-checkpoint PATH` (axolotl/cli/main.py).
"""

from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import Argv, Dialect, without_flags
from laststep.planning.dialects.trainer_options import TRAINER_OPTIONS
from laststep.records.settings import Setting

_FLAGS = ("--resume-from-checkpoint", "--resume_from_checkpoint")


def recognises(argv: Sequence[str]) -> bool:
    return any(PurePath(word).name == "axolotl" for word in argv[:4]) or any(
        word.startswith("axolotl.cli") for word in argv
    )


def add_resume(argv: Sequence[str], checkpoint: str) -> Argv:
    return (*without_flags(argv, _FLAGS), _FLAGS[0], checkpoint)


# Named as in transformers, as far as it knows them (axolotl/utils/schemas/config.py).
_NAMES: dict[Setting, str] = {
    **TRAINER_OPTIONS,
    Setting.DATASET_WORKERS: "dataset_processes",
    Setting.EVAL_MICRO_BATCH: "eval_batch_size",
    Setting.MAX_LENGTH: "sequence_len",
    Setting.MICRO_BATCH: "micro_batch_size",
}

DIALECT = Dialect(
    name="axolotl", recognises=recognises, add_resume=add_resume, resume_flags=_FLAGS, names=_NAMES, may_add=False
)
