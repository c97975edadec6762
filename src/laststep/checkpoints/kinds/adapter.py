"""Is a PEFT adapter whole, and of the shape its configuration says?

PEFT writes adapter_config.json and adapter_model.safetensors, or adapter_model.bin (peft/peft_model.py).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import ReadCheckpoint, TensorPlace
from laststep.checkpoints.kinds.misspelt import find_misspelt
from laststep.checkpoints.kinds.run_facts import read_run_facts
from laststep.records.checkpoint import Problem, ProblemKind
from laststep.records.text import Text

CONFIG = "adapter_config.json"
WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_NAMES = tuple(
    """
    alpha_pattern auto_mapping base_model_name_or_path bias corda_config eva_config exclude_modules fan_in_fan_out
    inference_mode init_lora_weights layer_replication layers_pattern layers_to_transform loftq_config lora_alpha
    lora_bias lora_dropout megatron_config megatron_core modules_to_save peft_type peft_version r rank_pattern revision
    target_modules target_parameters task_type trainable_token_indices use_dora use_qalora use_rslora qalora_group_size
    alora_invocation_tokens arrow_config ensure_weight_tying
    """.split()
)
_FOR_CONFIG = Text(en="the adapter cannot be built without it", zh="缺少它无法构建 adapter")
_FOR_WEIGHTS = Text(en="it holds the weights of the adapter", zh="其中是 adapter 的权重")
_NO_TYPE = Text(en="it names no type of adapter", zh="没有写明 adapter 的类型")
_MISSPELT = Text(en="{name!r} should be {similar!r}", zh="{name!r} 应为 {similar!r}")
_HALF = Text(en="{name} has no counterpart {other}", zh="{name} 没有与之成对的 {other}")


def judge(checkpoint: ReadCheckpoint) -> Iterator[Problem]:
    """Report what of an adapter is missing, or has another shape than its configuration."""
    weights = next((name for name in WEIGHTS if checkpoint.has(name)), None)
    if not checkpoint.has(CONFIG) and weights is None:
        if _should_be_there(checkpoint):
            yield problems.missing(CONFIG, _FOR_CONFIG)
            yield problems.missing(WEIGHTS[0], _FOR_WEIGHTS)
        return
    if not checkpoint.has(CONFIG):
        yield problems.missing(CONFIG, _FOR_CONFIG)
    if weights is None:
        yield problems.missing(WEIGHTS[0], _FOR_WEIGHTS)
    config = checkpoint.mapping(CONFIG)
    if config:
        yield from _judge_config(config)
    if weights is not None:
        yield from _judge_shapes(weights, checkpoint.readings[weights].tensors, config)


def _should_be_there(checkpoint: ReadCheckpoint) -> bool:
    """Tell whether the run trained an adapter; the weights of other tuners have other names."""
    facts = read_run_facts(checkpoint)
    in_folder = any(name.endswith(f"/{CONFIG}") for name in checkpoint.contents.files)
    return facts.is_swift and facts.tuner == "lora" and not in_folder


def _judge_config(config: Mapping[str, Any]) -> Iterator[Problem]:
    if not isinstance(config.get("peft_type"), str):
        yield problems.torn(CONFIG, _NO_TYPE)
    if config.get("peft_type") == "LORA":
        for found, similar in find_misspelt(config, _NAMES):
            yield problems.torn(CONFIG, _MISSPELT, name=found, similar=similar)


def _judge_shapes(file: str, tensors: Mapping[str, TensorPlace], config: Mapping[str, Any]) -> Iterator[Problem]:
    rank = config.get("r") if config.get("peft_type") == "LORA" and not config.get("rank_pattern") else None
    for name, tensor in tensors.items():
        down = next((part for part in (".lora_A.", ".lora_embedding_A") if part in name), None)
        up = next((part for part in (".lora_B.", ".lora_embedding_B") if part in name), None)
        if down is None and up is None:
            continue
        other = (
            name.replace(down, down.replace("_A", "_B"))
            if down
            else name.replace(up or "", (up or "").replace("_B", "_A"))
        )
        if other not in tensors:
            yield problems.torn(file, _HALF, name=name, other=other)
            return
        if name.endswith("bias") or len(tensor.shape) < 2:
            continue
        found = tensor.shape[0] if down else tensor.shape[1]
        # Experts side by side have their ranks one after the other.
        if type(rank) is int and rank > 0 and found % rank:
            yield _wrong_shape(file, name, tensor, f"r={rank}")
            return


def _wrong_shape(file: str, name: str, tensor: TensorPlace, expected: str) -> Problem:
    return problems.report(
        ProblemKind.WRONG_SHAPE, file, problems.WRONG_SHAPE, tensor=name, found=list(tensor.shape), expected=expected
    )
