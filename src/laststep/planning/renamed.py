"""What is an argument called that used to be, or elsewhere is, called otherwise?

Names of one group mean the same; which of them is right is the one that the installed version accepts. Collected from
ms-swift 2.6, 3.9, 4.0 and 4.6 (docs, Command-line-parameters) and transformers 4.40 to 5.19 (`training_args.py`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from laststep.records.text import Text

GROUPS: tuple[tuple[str, ...], ...] = (
    ("tuner_type", "train_type", "sft_type"),
    ("model", "model_id_or_path", "model_name_or_path"),
    ("target_modules", "lora_target_modules", "lora_target"),
    ("adapters", "ckpt_dir", "adapter_name_or_path"),
    ("split_dataset_ratio", "dataset_test_ratio", "val_size"),
    ("dataset", "custom_train_dataset_path", "train_dataset"),
    ("val_dataset", "custom_val_dataset_path"),
    ("dataset_num_proc", "preprocess_num_proc", "preprocessing_num_workers", "num_proc", "dataset_map_workers"),
    ("eval_strategy", "evaluation_strategy"),
    ("per_device_train_batch_size", "per_gpu_train_batch_size", "batch_size", "micro_batch_size", "train_batch_size"),
    ("per_device_eval_batch_size", "per_gpu_eval_batch_size", "eval_batch_size"),
    ("gradient_accumulation_steps", "grad_accum_steps", "accumulate_grad_batches"),
    ("max_length", "cutoff_len", "max_seq_length", "model_max_length", "sequence_len"),
    ("torch_dtype", "dtype", "compute_dtype"),
    ("quant_bits", "quantization_bit"),
    ("quant_method", "quantization_method"),
    ("lora_dropout", "lora_dropout_p"),
    ("lora_rank", "lora_r"),
    ("num_train_epochs", "num_epochs", "epochs"),
    ("save_only_model", "only_save_model"),
    ("resume_only_model", "resume_only_model_state"),
    ("deepspeed", "deepspeed_config_path", "deepspeed_config"),
    ("optim", "optim_type"),
    ("packing", "use_packing"),
    ("use_cpu", "no_cuda"),
    ("hub_token", "push_to_hub_token"),
    ("hub_model_id", "push_to_hub_model_id"),
    ("dataloader_num_workers", "num_workers", "dataloader_workers"),
    ("truncation_strategy", "truncate_strategy"),
    ("system", "default_system"),
    ("warmup_ratio", "lr_warmup_ratio"),
    ("learning_rate", "lr"),
    ("use_liger_kernel", "use_liger"),
    ("gradient_checkpointing", "use_gradient_checkpointing"),
    ("external_plugins", "custom_plugins"),
    ("strict", "data_strict"),
    ("infer_backend", "infer_engine"),
    ("merge_lora", "merge_lora_weights"),
    ("model_kwargs", "model_args"),
    ("train_sampling_strategy", "group_by_length"),
)
# Flags of attention, whose old values mean something else.
_ATTENTION = ("attn_impl", "attn_implementation")
_OLD_ATTENTION = ("flash_attn", "use_flash_attn", "flash_attention", "use_flash_attention")
_ATTENTION_VALUES = {"true": "flash_attn", "fa2": "flash_attn", "1": "flash_attn", "sdpa": "sdpa", "": "flash_attn"}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "train_sampling_strategy": {"true": "group_by_length", "": "group_by_length"},
}
# What is no argument of the trainer, but a variable that its launcher reads.
VARIABLES: Mapping[str, str] = {
    "nproc_per_node": "NPROC_PER_NODE",
    "nproc-per-node": "NPROC_PER_NODE",
    "num_processes": "NPROC_PER_NODE",
    "nnodes": "NNODES",
    "node_rank": "NODE_RANK",
    "master_addr": "MASTER_ADDR",
    "master_port": "MASTER_PORT",
    "max_pixels": "MAX_PIXELS",
    "image_max_token_num": "IMAGE_MAX_TOKEN_NUM",
    "video_max_token_num": "VIDEO_MAX_TOKEN_NUM",
    "cuda_visible_devices": "CUDA_VISIBLE_DEVICES",
}
_SKIPPED = Text(
    en="rows that cannot be encoded are skipped by default; --strict true makes them errors",
    zh="默认会跳过无法编码的行；--strict true 会使其报错",
)
_ALWAYS = Text(en="it is always so now", zh="现在始终如此")
_BY_FOLDER = Text(en="the output folder is never overwritten as a whole", zh="输出目录不会被整体覆盖")
_BY_BACKEND = Text(en="the framework chooses it", zh="由框架自行选择")
REMOVED: Mapping[str, Text] = {
    "check_dataset_strategy": _SKIPPED,
    "self_cognition_sample": Text(
        en="name the data set instead: --dataset swift/self-cognition#500",
        zh="改为写明数据集：--dataset swift/self-cognition#500",
    ),
    "train_dataset_sample": Text(
        en="write the number behind the data set: FILE#500", zh="把数量写在数据集后面：FILE#500"
    ),
    "val_dataset_sample": Text(
        en="write the number behind the data set: FILE#500", zh="把数量写在数据集后面：FILE#500"
    ),
    "overwrite_output_dir": _BY_FOLDER,
    "save_safetensors": _ALWAYS,
    "safe_serialization": _ALWAYS,
    "fp16_backend": _BY_BACKEND,
    "half_precision_backend": _BY_BACKEND,
    "fp16_opt_level": _BY_BACKEND,
    "use_ipex": _BY_BACKEND,
    "jit_mode_eval": _BY_BACKEND,
    "tpu_num_cores": _BY_BACKEND,
    "past_index": _BY_BACKEND,
    "preprocessing_only": _ALWAYS,
    "disable_gradient_checkpointing": _ALWAYS,
}
# How values are spelled elsewhere, where only some are accepted.
SPELLINGS: Mapping[str, str] = {
    "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32", "fp64": "float64",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewName:
    """The name that is accepted, and the values to write behind it."""

    name: str
    values: tuple[str, ...]


def find_new_name(old: str, values: tuple[str, ...], accepted: Collection[str]) -> NewName | None:
    """Find the accepted name of the same meaning. Names are without dashes in front, with underscores."""
    if old in _OLD_ATTENTION:
        return _find_attention(values, accepted)
    for group in GROUPS:
        if old in group:
            name = next((name for name in group if name in accepted), None)
            return NewName(name, _translate(name, values)) if name is not None else None
    return None


def _find_attention(values: tuple[str, ...], accepted: Collection[str]) -> NewName | None:
    name = next((name for name in _ATTENTION if name in accepted), None)
    value = _ATTENTION_VALUES.get(values[0].lower() if values else "")
    # "false" and "disabled" chose what is chosen anyway where nothing is said.
    return NewName(name, (value,)) if name is not None and value is not None else None


def _translate(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
    known = _VALUES.get(name)
    if known is None:
        return values
    value = known.get(values[0].lower() if values else "")
    return (value,) if value is not None else values
