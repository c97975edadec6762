"""How does LLaMA-Factory take a run up again?

`llamafactory-cli train config.yaml key=value …`: what follows the file overrides it (OmegaConf). Without
`resume_from_checkpoint` it refuses an output folder that is not empty (llamafactory/hparams/parser.py).
"""

from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import Argv, Dialect, Spelling, without_flags
from laststep.planning.dialects.trainer_options import TRAINER_DEFAULTS, TRAINER_OPTIONS
from laststep.records.settings import Setting

_PROGRAMS = ("llamafactory-cli", "lmf")
_KEY = "resume_from_checkpoint"
_FLAG = "--resume_from_checkpoint"


def recognises(argv: Sequence[str]) -> bool:
    return any(PurePath(word).name in _PROGRAMS for word in argv[:4])


def add_resume(argv: Sequence[str], checkpoint: str) -> Argv:
    """Go on from a checkpoint, in the way the command itself is written: `key=value` beside a file, else a flag."""
    if spell(argv) is Spelling.KEY:
        return (*(word for word in argv if not word.startswith(f"{_KEY}=")), f"{_KEY}={checkpoint}")
    return (*without_flags(argv, (_FLAG,)), _FLAG, checkpoint)


def spell(argv: Sequence[str]) -> Spelling:
    """Tell how its options are written: beside a file, as keys."""
    has_file = any(word.endswith((".yaml", ".yml", ".json")) and not word.startswith("-") for word in argv)
    return Spelling.KEY if has_file else Spelling.FLAG


DIALECT = Dialect(
    name="llamafactory",
    recognises=recognises,
    add_resume=add_resume,
    resume_flags=(_FLAG, _KEY),
    names={
        **TRAINER_OPTIONS,
        Setting.ADAPTERS: "adapter_name_or_path",
        Setting.ATTENTION: "flash_attn",
        Setting.DATASET_WORKERS: "preprocessing_num_workers",
        Setting.MAX_LENGTH: "cutoff_len",
    },
    defaults=TRAINER_DEFAULTS,
    variables={Setting.PORT: "MASTER_PORT", Setting.RANKS: "NPROC_PER_NODE"},
    spelling=spell,
)
