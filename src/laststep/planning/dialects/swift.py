"""How does ms-swift take a run up again?

`--resume_from_checkpoint` loads weights, optimiser, scheduler and position. Each launch makes a folder
`vN-date` of its own below `--output_dir` unless `--add_version false` is given, so a run that is to go on in its own
folder names that one (swift/arguments/sft_args.py, `_add_version`).
"""

from collections.abc import Sequence
from pathlib import PurePath

from laststep.planning.dialects.dialect import Argv, Dialect, without_flags
from laststep.planning.dialects.trainer_options import TRAINER_DEFAULTS, TRAINER_OPTIONS
from laststep.records.settings import Setting

_SCRIPTS = ("swift/cli/sft.py", "swift/cli/pt.py", "swift/cli/rlhf.py")
_RESUME = ("--resume_from_checkpoint", "--resume-from-checkpoint")
_VERSION = ("--add_version", "--add-version")
_OUTPUT = ("--output_dir", "--output-dir")

# Where they differ from transformers' own (swift/arguments/sft_args.py, swift/trainers/arguments.py, 4.0.0 and 4.6.0).
_DEFAULTS = {
    Setting.CHECKPOINTING: "true",
    Setting.DATASET_WORKERS: "1",
    Setting.EVAL_MICRO_BATCH: "1",
    Setting.LOADER_WORKERS: "1",
    Setting.MICRO_BATCH: "1",
    Setting.TIMEOUT_SECONDS: "18000000",
}


def recognises(argv: Sequence[str]) -> bool:
    """Tell `swift sft …`, `python …/swift sft …` and a launch of its training script."""
    return any(PurePath(word).name == "swift" for word in argv[:4]) or any(
        word.endswith(_SCRIPTS) or word.startswith("swift.cli") for word in argv
    )


def add_resume(argv: Sequence[str], checkpoint: str) -> Argv:
    """Go on from a checkpoint, in the folder that it lies in."""
    plain = without_flags(argv, (*_RESUME, *_VERSION, *_OUTPUT))
    folder = str(PurePath(checkpoint).parent)
    return (*plain, "--output_dir", folder, "--add_version", "false", "--resume_from_checkpoint", checkpoint)


DIALECT = Dialect(
    name="swift",
    recognises=recognises,
    add_resume=add_resume,
    resume_flags=(*_RESUME, *_VERSION, *_OUTPUT),
    names={
        **TRAINER_OPTIONS,
        Setting.ADAPTERS: "adapters",
        Setting.ATTENTION: "attn_impl",
        Setting.DATASET_WORKERS: "dataset_num_proc",
        Setting.MAX_LENGTH: "max_length",
        Setting.TRUNCATION: "truncation_strategy",
        Setting.WEIGHT_TYPE: "torch_dtype",
    },
    defaults={**TRAINER_DEFAULTS, **_DEFAULTS},
    variables={Setting.PORT: "MASTER_PORT", Setting.RANKS: "NPROC_PER_NODE"},
)
