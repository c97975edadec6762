"""What did the run that wrote a checkpoint say about itself?"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep.checkpoints.contents import ReadCheckpoint
from laststep.checkpoints.formats.pickle_values import Built, plain_attributes

RANDOM_STATE = re.compile(r"rng_state(?:_(\d{1,6}))?\.pth")
DEEPSPEED_TAG = re.compile(r"global_step(\d{1,18})/.+")
_SWIFT_FILES = ("args.json", "additional_config.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Facts from the arguments that lie in a checkpoint; None: not said."""

    is_swift: bool
    saves_only_model: bool | None
    world_size: int | None
    uses_fp16: bool
    is_of_one_node: bool  # each node keeps the random states of its own ranks
    starts_optimiser_anew: bool  # the optimiser's steps are then behind the run's
    is_adapter: bool | None
    base_model: str | None
    tuner: str | None
    has_deepspeed_folder: bool
    random_ranks: tuple[int, ...]  # of which there is a random state
    is_one_process: bool  # the random state is named after no rank


def read_run_facts(checkpoint: ReadCheckpoint) -> RunFacts:
    """Gather what args.json of ms-swift, training_args.bin and the names of the files say."""
    arguments = checkpoint.mapping("args.json")
    built = checkpoint.value("training_args.bin")
    pickled = plain_attributes(built)
    ranks = _random_ranks(checkpoint)
    tuner = _text(arguments, "tuner_type", "train_type") or _text(pickled, "tuner_type")
    adapter_config = checkpoint.mapping("adapter_config.json")
    has_adapter = any(name.startswith("adapter_") for name in checkpoint.contents.files)
    return RunFacts(
        is_swift=any(map(checkpoint.has, _SWIFT_FILES)) or _is_from_swift(built),
        saves_only_model=_flag(arguments, pickled, "save_only_model"),
        world_size=_count(arguments.get("global_world_size")),
        uses_fp16=bool(_flag(arguments, pickled, "fp16")),
        is_of_one_node=bool(_flag(arguments, pickled, "save_on_each_node")),
        starts_optimiser_anew=bool(_flag(arguments, pickled, "resume_only_model")),
        is_adapter=True if has_adapter else (tuner != "full" if tuner else None),
        base_model=_text(adapter_config, "base_model_name_or_path") or _text(arguments, "model"),
        tuner=tuner or ("lora" if has_adapter else None),
        has_deepspeed_folder=any(map(DEEPSPEED_TAG.fullmatch, checkpoint.contents.files)),
        random_ranks=ranks,
        is_one_process=checkpoint.has("rng_state.pth"),
    )


def _random_ranks(checkpoint: ReadCheckpoint) -> tuple[int, ...]:
    named = (RANDOM_STATE.fullmatch(name) for name in checkpoint.contents.files)
    return tuple(sorted(int(match[1] or 0) for match in named if match))


def _is_from_swift(built: Any) -> bool:
    return isinstance(built, Built) and built.made_by.module.partition(".")[0] == "swift"


def _flag(arguments: Mapping[str, Any], pickled: Mapping[str, Any], name: str) -> bool | None:
    for source in (arguments, pickled):
        if isinstance(source.get(name), bool):
            return bool(source[name])
    return None


def _text(source: Mapping[str, Any], *names: str) -> str | None:
    return next((source[name] for name in names if isinstance(source.get(name), str) and source[name]), None)


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
