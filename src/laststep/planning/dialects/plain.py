"""What if nobody knows the program?

A script of the user's own may ignore any flag, or end over it. So none is added: the guard hands the checkpoint to
`Trainer.train` itself.
"""

from collections.abc import Sequence

from laststep.planning.dialects.dialect import Dialect
from laststep.planning.dialects.trainer_options import TRAINER_OPTIONS
from laststep.records.settings import Setting


def recognises(argv: Sequence[str]) -> bool:
    return bool(argv)


DIALECT = Dialect(
    name="plain",
    recognises=recognises,
    resume_flags=("--resume_from_checkpoint", "--resume-from-checkpoint"),
    names=TRAINER_OPTIONS,
    variables={Setting.PORT: "MASTER_PORT"},
    may_add=False,
)
