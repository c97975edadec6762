"""How does LLaMA-Factory take a run up again?

`llamafactory-cli train config.yaml key=value …`: what follows the file overrides it (OmegaConf). Without
`resume_from_checkpoint` it refuses an output folder that is not empty (llamafactory/hparams/parser.py).
"""

from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import Argv, Dialect, without_flags

_PROGRAMS = ("llamafactory-cli", "lmf")
_KEY = "resume_from_checkpoint"
_FLAG = "--resume_from_checkpoint"


def recognises(argv: Sequence[str]) -> bool:
    return any(PurePath(word).name in _PROGRAMS for word in argv[:4])


def add_resume(argv: Sequence[str], checkpoint: str) -> Argv:
    """Go on from a checkpoint, in the way the command itself is written: `key=value` beside a file, else a flag."""
    if any(word.endswith((".yaml", ".yml", ".json")) and not word.startswith("-") for word in argv):
        return (*(word for word in argv if not word.startswith(f"{_KEY}=")), f"{_KEY}={checkpoint}")
    return (*without_flags(argv, (_FLAG,)), _FLAG, checkpoint)


DIALECT = Dialect(name="llamafactory", recognises=recognises, add_resume=add_resume, resume_flags=(_FLAG, _KEY))
