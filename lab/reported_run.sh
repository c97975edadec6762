#!/usr/bin/env bash
# The reported command by hand, shrunk to a CPU:  MODEL=… DATA=… OUT=… [RANKS=2] reported_run.sh [more flags]
#
# `swift` is taken from PATH; further flags win over those below. Put something in front with LAUNCH="laststep run --".
# src/laststep/demo/reported_command.py holds the same flags for the demonstration and the benches; a test compares them.
set -eu
export IMAGE_MAX_TOKEN_NUM=768 MAX_POSITIVE_SAMPLES=10 MAX_NEGATIVE_SAMPLES=10 HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
if [ "${RANKS:-1}" -gt 1 ]; then
  export NPROC_PER_NODE=$RANKS
  set -- --ddp_backend gloo "$@"
fi
# shellcheck disable=SC2086  # LAUNCH is several words
exec ${LAUNCH:-} swift sft --model "$MODEL" --dataset "$DATA" --output_dir "$OUT" \
  --model_type qwen3_vl_reranker --task_type generative_reranker --loss_type listwise_reranker \
  --tuner_type lora --lora_rank 8 --lora_alpha 32 --target_modules all-linear --learning_rate 5e-5 \
  --load_from_cache_file true --split_dataset_ratio 0.1 --dataset_num_proc 2 \
  --attn_impl sdpa --torch_dtype float32 --use_cpu true --check_model false \
  --save_steps 5 --eval_strategy steps --eval_steps 5 --logging_steps 1 \
  --num_train_epochs 1 --max_length 4096 --per_device_train_batch_size 1 --per_device_eval_batch_size 1 \
  --gradient_accumulation_steps 2 --dataloader_num_workers 2 --warmup_ratio 0.05 --dataloader_drop_last true \
  "$@"
