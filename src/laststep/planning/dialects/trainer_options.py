"""What are the knobs called by everything that is built on transformers' `TrainingArguments`?

Checked in transformers 4.57 and 5.19 (`transformers/training_args.py`).
"""

from collections.abc import Mapping

from laststep.records.settings import Setting

TRAINER_OPTIONS: Mapping[Setting, str] = {
    Setting.ACCUMULATION: "gradient_accumulation_steps",
    Setting.BEST_METRIC: "metric_for_best_model",
    Setting.BFLOAT16: "bf16",
    Setting.CHECKPOINTING: "gradient_checkpointing",
    Setting.CHECKPOINTING_OPTIONS: "gradient_checkpointing_kwargs",
    Setting.CHECKPOINTS_KEPT: "save_total_limit",
    Setting.DROP_LAST: "dataloader_drop_last",
    Setting.EVAL_MICRO_BATCH: "per_device_eval_batch_size",
    Setting.FLOAT16: "fp16",
    Setting.IS_GREATER_BETTER: "greater_is_better",
    Setting.LEARNING_RATE: "learning_rate",
    Setting.LOADER_WORKERS: "dataloader_num_workers",
    Setting.LOSS_ONLY: "prediction_loss_only",
    Setting.MAX_STEPS: "max_steps",
    Setting.MICRO_BATCH: "per_device_train_batch_size",
    Setting.MODEL_ONLY: "save_only_model",
    Setting.PIN_MEMORY: "dataloader_pin_memory",
    Setting.PREFETCH: "dataloader_prefetch_factor",
    Setting.RESUME_FROM: "resume_from_checkpoint",
    Setting.SAVE_ON_EACH_NODE: "save_on_each_node",
    Setting.SAVE_STEPS: "save_steps",
    Setting.SAVE_STRATEGY: "save_strategy",
    Setting.TIMEOUT_SECONDS: "ddp_timeout",
    Setting.UNUSED_PARAMETERS: "ddp_find_unused_parameters",
}
TRAINER_DEFAULTS: Mapping[Setting, str] = {
    Setting.ACCUMULATION: "1",
    Setting.BFLOAT16: "false",
    Setting.CHECKPOINTING: "false",
    Setting.DROP_LAST: "false",
    Setting.EVAL_MICRO_BATCH: "8",
    Setting.FLOAT16: "false",
    Setting.LOADER_WORKERS: "0",
    Setting.LOSS_ONLY: "false",
    Setting.MICRO_BATCH: "8",
    Setting.MODEL_ONLY: "false",
    Setting.PIN_MEMORY: "true",
    Setting.SAVE_ON_EACH_NODE: "false",
    Setting.TIMEOUT_SECONDS: "1800",
}
