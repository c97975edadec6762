"""How is the reported command run on a machine without a GPU?

The same task, loss, tuner, data shape and cadence of saves and evaluations. Flash attention and padding-free batches
need a GPU, so sdpa stands in for them.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

FLAGS = """
--model_type qwen3_vl_reranker --task_type generative_reranker --loss_type listwise_reranker
--tuner_type lora --lora_rank 8 --lora_alpha 32 --target_modules all-linear --learning_rate 5e-5
--load_from_cache_file true --split_dataset_ratio 0.1 --dataset_num_proc 2
--attn_impl sdpa --torch_dtype float32 --use_cpu true --check_model false
--save_steps 5 --eval_strategy steps --eval_steps 5 --logging_steps 1
--num_train_epochs 1 --max_length 4096 --per_device_train_batch_size 1 --per_device_eval_batch_size 1
--gradient_accumulation_steps 2 --dataloader_num_workers 2 --warmup_ratio 0.05 --dataloader_drop_last true
""".split()


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """One run of the reported command: where everything lies, and what differs from the report."""

    python: Path  # of the environment that has ms-swift
    model: Path
    data: Path
    output_dir: Path
    _: KW_ONLY
    ranks: int = 1
    flags: Sequence[str] = ()  # win over those of the report
    environment: Mapping[str, str] | None = None
    program: Sequence[str] = ()  # run this in its place: a script that takes the output folder


def reported_argv(run: ReportedRun) -> list[str]:
    """Write the command as a user types it; `swift` is found on the PATH of `reported_environment`."""
    if run.program:
        return [*run.program, str(run.output_dir), *run.flags]
    places = ["--model", str(run.model), "--dataset", str(run.data), "--output_dir", str(run.output_dir)]
    backend = ["--ddp_backend", "gloo"] if run.ranks > 1 else []
    return ["swift", "sft", *places, *FLAGS, *backend, *run.flags]


def reported_environment(run: ReportedRun, ours: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Give the environment of the command: its Python's folder first on PATH, the report's variables, no network."""
    environment = {
        **ours,
        "PATH": f"{run.python.parent}{os.pathsep}{ours.get('PATH', os.defpath)}",
        "IMAGE_MAX_TOKEN_NUM": "768",
        "MAX_POSITIVE_SAMPLES": "10",
        "MAX_NEGATIVE_SAMPLES": "10",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        # The trainers' caches stay beside the data instead of in the user's home.
        "MODELSCOPE_CACHE": str(run.data.parent / "cache"),
        "HF_HOME": str(run.data.parent / "cache"),
    }
    environment.pop("NPROC_PER_NODE", None)
    if run.ranks > 1:
        environment["NPROC_PER_NODE"] = str(run.ranks)
    return environment | dict(run.environment or {})
