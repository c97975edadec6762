"""Are the weights of a whole model there, with every shard that the index names?

`save_pretrained` of transformers writes config.json and model.safetensors or pytorch_model.bin; larger models are
sharded into PREFIX-00001-of-0000N, named by PREFIX.index.json.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import ReadCheckpoint, TensorPlace
from laststep.checkpoints.kinds.run_facts import RunFacts, read_run_facts
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

CONFIG = "config.json"
SINGLE = ("model.safetensors", "pytorch_model.bin", "pytorch_model_fsdp.bin")
_INDEX = re.compile(r"(model\.safetensors|pytorch_model\.bin)\.index\.json")
_SHARD = re.compile(r"(model|pytorch_model)-(\d{5})-of-(\d{5})\.(safetensors|bin)")
_FOR_WEIGHTS = Text(en="it holds the weights of the model", zh="其中是模型的权重")
_FOR_CONFIG = Text(en="the model cannot be built without it", zh="缺少它无法构建模型")
_FOR_INDEX = Text(en="it says which shard holds which tensor", zh="它说明每个张量在哪个分片中")
_FOR_SHARD = Text(en="the index names it", zh="索引中有它")
_NO_MAP = Text(en="it holds no map of tensors", zh="其中没有张量映射表")
_NOT_IN = Text(en="{tensor} is not in {file}", zh="{tensor} 不在 {file} 中")
_NOT_NAMED = Text(en="the index does not say that {tensor} is in it", zh="索引没有说明 {tensor} 在其中")
_TOTAL = Text(
    en="it speaks of {found:,} bytes, and the shards hold {expected:,}",
    zh="其中记为 {found:,} 字节，而分片共有 {expected:,} 字节",
)


def judge(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    """Report weights, shards or a configuration that are missing or contradict each other."""
    names = [name for name in checkpoint.contents.files if "/" not in name]
    indexes = [name for name in names if _INDEX.fullmatch(name)]
    shards = [match for match in map(_SHARD.fullmatch, names) if match]
    single = [name for name in SINGLE if name in names]
    for index in indexes:
        yield from _judge_index(checkpoint, index)
    if shards and not indexes:
        ending = "safetensors" if shards[0][4] == "safetensors" else "bin"
        yield problems.missing(f"{shards[0][1]}.{ending}.index.json", _FOR_INDEX)
    if not indexes and not shards and not single:
        if _should_be_there(checkpoint):
            yield problems.missing(SINGLE[0], _FOR_WEIGHTS)
        elif not checkpoint.has(CONFIG) and checkpoint.has("generation_config.json"):
            yield problems.missing(CONFIG, _FOR_CONFIG)  # of a model that lies in DeepSpeed's folder
        return
    if not checkpoint.has(CONFIG) and (indexes or shards or _has_sign_of_config(checkpoint)):
        yield problems.missing(CONFIG, _FOR_CONFIG)
    yield from _judge_embedding(checkpoint, single + [match[0] for match in shards])


def _should_be_there(checkpoint: ReadCheckpoint) -> bool:
    facts = read_run_facts(checkpoint)
    names = checkpoint.contents.files
    elsewhere = ("pytorch_model_fsdp_0/", "adapter_")
    if facts.is_adapter or any(name.startswith(elsewhere) or name.endswith("/adapter_config.json") for name in names):
        return False
    # A loop of the user's own under torch or DeepSpeed keeps weights in its own folders; ZeRO-3 does too.
    is_partitioned = any("zero_pp_rank_" in name and name.endswith("_model_states.pt") for name in names)
    return not is_partitioned and not _is_own_loop(facts, names)


def _is_own_loop(facts: RunFacts, names: Mapping[str, int]) -> bool:
    has_trainer = any(name in names for name in ("trainer_state.json", "training_args.bin"))
    return not has_trainer and (
        facts.has_deepspeed_folder
        or ".metadata" in names
        or "latest" in names
        or any(name.endswith(".distcp") for name in names)
    )


def _has_sign_of_config(checkpoint: ReadCheckpoint) -> bool:
    """Tell whether a model with a configuration was saved: other files of it, or a neighbour with one.

    A module that is no model of transformers has no configuration, and is none the worse for it.
    """
    if checkpoint.has("generation_config.json") or checkpoint.has("args.json"):
        return True
    root = checkpoint.contents.root
    try:
        neighbours = [entry.path for entry in os.scandir(root.parent) if entry.name.startswith("checkpoint-")]
    except OSError:
        return False
    return any(os.path.lexists(os.path.join(path, CONFIG)) for path in neighbours[:64])  # noqa: PTH118  # many paths


def _judge_index(checkpoint: ReadCheckpoint, index: str) -> Iterator[Problem]:
    if checkpoint.readings[index].problems:
        return
    value = checkpoint.mapping(index)
    placed = value.get("weight_map")
    if not isinstance(placed, dict) or not all(isinstance(name, str) for name in placed.values()):
        yield problems.torn(index, _NO_MAP)
        return
    files = sorted(set(placed.values()))
    absent = [name for name in files if not checkpoint.has(name)]
    for name in absent:
        yield problems.missing(name, _FOR_SHARD)
    if absent or any(checkpoint.readings[name].problems for name in files):
        return
    yield from _judge_map(checkpoint, index, placed, files)
    if index.startswith("model.safetensors"):
        yield from _judge_total(checkpoint, index, value.get("metadata"), files)


def _judge_map(
    checkpoint: ReadCheckpoint, index: str, placed: Mapping[str, str], files: list[str]
) -> Iterator[Problem]:
    """Hold the index against the headers of the shards, in both directions."""
    for tensor, name in placed.items():
        if tensor not in checkpoint.readings[name].tensors:
            words = _NOT_IN.fill(tensor=tensor, file=name)
            yield problems.report(ProblemKind.STALE_POINTER, index, problems.TORN, how=words)
            return
    for name in files:
        strange = next((key for key in checkpoint.readings[name].tensors if placed.get(key) != name), None)
        if strange is not None and name.endswith(".safetensors"):
            words = _NOT_NAMED.fill(tensor=strange)
            yield problems.report(ProblemKind.STALE_POINTER, name, problems.TORN, how=words)
            return


def _judge_total(checkpoint: ReadCheckpoint, index: str, metadata: Any, files: list[str]) -> Iterator[Problem]:
    found = metadata.get("total_size") if isinstance(metadata, dict) else None
    tensors = [tensor for name in files for tensor in checkpoint.readings[name].tensors.values()]
    expected = sum(tensor.end - tensor.begin for tensor in tensors)
    if isinstance(found, int | float) and found != expected:
        yield problems.torn(index, _TOTAL, found=int(found), expected=expected)


def _judge_embedding(checkpoint: ReadCheckpoint, files: list[str]) -> Iterator[Problem]:
    """Hold the embedding against the configuration, where there is one of each."""
    config = checkpoint.mapping(CONFIG)
    expected = [config.get("vocab_size"), config.get("hidden_size")]
    found: list[tuple[str, str, TensorPlace]] = [
        (file, name, tensor)
        for file in files
        for name, tensor in checkpoint.readings[file].tensors.items()
        if name.endswith("embed_tokens.weight")
    ]
    if len(found) == 1 and all(type(size) is int for size in expected) and list(found[0][2].shape) != expected:
        file, name, tensor = found[0]
        yield problems.report(
            ProblemKind.WRONG_SHAPE,
            file,
            problems.WRONG_SHAPE,
            tensor=name,
            found=list(tensor.shape),
            expected=expected,
        )
