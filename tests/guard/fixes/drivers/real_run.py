"""Does `swift sft` train the same with a fix? Run by the Python of an ms-swift environment.

    python real_run.py MODEL FOLDER FIXES

Runs the command alone and with the fixes injected, with real loader workers, evaluation and saves, and prints one JSON
object: what each logged, and the events of the second.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from rows import make_rows  # beside this file

LIMITS = {"MAX_POSITIVE_SAMPLES": "10", "MAX_NEGATIVE_SAMPLES": "10", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
# The drawing of documents and the workers' own states are what differs between the versions.
FLAGS = (
    "--model_type qwen3_vl_reranker --task_type generative_reranker --loss_type listwise_reranker --tuner_type lora "
    "--target_modules all-linear --lora_dropout 0 --split_dataset_ratio 0 --dataset_num_proc 1 --attn_impl sdpa "
    "--torch_dtype float32 --use_cpu true --check_model false --save_steps 2 --eval_strategy steps --eval_steps 2 "
    "--eval_metric reranker --logging_steps 1 --max_steps 4 --per_device_train_batch_size 2 --learning_rate 1e-3 "
    "--per_device_eval_batch_size 2 --gradient_accumulation_steps 2 --dataloader_num_workers 2 --report_to none"
)


def main() -> None:
    model, folder, fixes = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    data = folder / "rows.json"
    data.write_text(json.dumps(make_rows(folder) * 3))
    events = folder / "events"
    events.mkdir()
    source = Path(sys.modules["rows"].__file__).parent / "inject"
    injected = {
        "TRY_FIXES": fixes,
        "TRY_EVENTS": str(events),
        "PYTHONPATH": os.pathsep.join([str(source), os.environ["PYTHONPATH"]]),
    }
    result = {
        "stock": train(model, data, folder / "stock", {}),
        "fixed": train(model, data, folder / "fixed", injected),
        "events": [json.loads(line) for path in events.iterdir() for line in path.read_text().splitlines()],
    }
    print("RESULT " + json.dumps(result))  # how a driver answers


def train(model: str, data: Path, output: Path, environment: dict) -> list:
    """Run the command and list what it logged."""
    command = [str(Path(sys.executable).parent / "swift"), "sft", "--model", model, "--dataset", str(data)]
    command += ["--val_dataset", str(data), "--output_dir", str(output), *FLAGS.split()]
    done = subprocess.run(
        command, env={**os.environ, **LIMITS, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    log = next(output.glob("*/logging.jsonl"))
    return [json.loads(line) for line in log.read_text().splitlines()]


if __name__ == "__main__":
    main()
