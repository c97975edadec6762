"""How is a script told that is built on transformers' `TrainingArguments`, and TRL's own commands?

A script that names its micro-batch as they do takes all of their options (`HfArgumentParser`). Where it goes on from is
told to `Trainer.train` by the guard, since not every script passes its flag on.
"""

from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import Dialect
from laststep.planning.dialects.trainer_options import TRAINER_DEFAULTS, TRAINER_OPTIONS
from laststep.records.settings import Setting

_ITS_OWN = ("--per_device_train_batch_size", "--per-device-train-batch-size")


def recognises(argv: Sequence[str]) -> bool:
    return any(word.split("=", 1)[0] in _ITS_OWN for word in argv) or any(
        PurePath(word).name == "trl" for word in argv[:4]
    )


DIALECT = Dialect(
    name="transformers",
    recognises=recognises,
    resume_flags=("--resume_from_checkpoint", "--resume-from-checkpoint"),
    names=TRAINER_OPTIONS,
    defaults=TRAINER_DEFAULTS,
    variables={Setting.PORT: "MASTER_PORT"},
)
