"""Run trainings that finish, and keep what they printed: `python tests/logs/collect.py [NAME…]`.

Each is run for real with the environments that `make envs` makes, has to end with 0, and becomes `healthy/NAME.log`
with the places of this machine replaced. Run by hand when a framework's new version prints something else.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from places import ENVS, LAB, replace_places

from laststep.demo.prepare_kit import prepare_data, prepare_model
from laststep.demo.reported_command import ReportedRun, reported_argv, reported_environment

HERE = Path(__file__).resolve().parent
TRAIN, FRIGHTEN = HERE / "drivers" / "train.py", HERE / "drivers" / "frighten.py"


@dataclass(frozen=True)
class Training:
    """One training that finishes. Without a driver it is the reported ms-swift command."""

    env: str
    driver: Path | None = None
    kind: str = ""
    flags: Sequence[str] = ()
    ranks: int = 1
    restarts: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)


def swift(env: str, *flags: str, ranks: int = 1, **environment: str) -> Training:
    return Training(env, flags=flags, ranks=ranks, environment=environment)


def driven(driver: Path, kind: str, env: str = "current", ranks: int = 1, restarts: int = 0, **more: str) -> Training:
    return Training(env, driver, kind, ranks=ranks, restarts=restarts, environment=more)


TRAININGS: Mapping[str, Training] = {
    "swift-4.6.0": swift("current"),
    "swift-4.6.0-two-ranks": swift("current", ranks=2),
    "swift-4.6.0-full": swift("current", "--tuner_type", "full"),
    "swift-4.6.0-no-eval": swift("current", "--eval_strategy", "no", "--split_dataset_ratio", "0"),
    "swift-4.6.0-zero2": swift("current", "--deepspeed", "zero2", ranks=2, DS_ACCELERATOR="cpu"),
    "swift-4.6.0-streaming": swift("current", "--streaming", "true", "--max_steps", "6", "--eval_strategy", "no",
                                   "--split_dataset_ratio", "0", "--dataset_num_proc", "1"),
    "swift-4.0.0": swift("reported"),
    "swift-4.0.0-two-ranks": swift("reported", ranks=2),
    "swift-4.0.0-full": swift("reported", "--tuner_type", "full"),
    "swift-4.0.0-checkpointing": swift("reported", "--gradient_checkpointing", "true", "--save_total_limit", "1"),
    "swift-4.0.0-no-workers": swift("reported", "--dataloader_num_workers", "0", "--logging_steps", "3"),
    "transformers-5.19": driven(TRAIN, "full"),
    "transformers-5.19-two-ranks": driven(TRAIN, "ddp", ranks=2),
    "transformers-5.19-best": driven(TRAIN, "best"),
    "transformers-5.19-early-stop": driven(TRAIN, "early"),
    "transformers-5.19-resumed": driven(TRAIN, "resumed"),
    "transformers-5.19-bf16": driven(TRAIN, "bf16"),
    "transformers-5.19-verbose": driven(TRAIN, "verbose"),
    "transformers-4.57": driven(TRAIN, "full", "reported"),
    "transformers-4.57-two-ranks": driven(TRAIN, "ddp", "reported", ranks=2),
    "transformers-4.57-best": driven(TRAIN, "best", "reported"),
    "transformers-4.57-resumed": driven(TRAIN, "resumed", "reported"),
    "transformers-4.57-checkpointing": driven(TRAIN, "checkpointing", "reported"),
    "trl-0.29-sft": driven(TRAIN, "sft"),
    "trl-0.29-dpo": driven(TRAIN, "dpo"),
    "trl-0.28-sft": driven(TRAIN, "sft", "reported"),
    "trl-0.28-dpo": driven(TRAIN, "dpo", "reported"),
    "deepspeed-0.19": driven(TRAIN, "engine", ranks=2),
    "accelerate-1.16": driven(TRAIN, "accelerated"),
    "accelerate-1.12-two-ranks": driven(TRAIN, "accelerated", "reported", ranks=2),
    "harmless-batch-size-found": driven(FRIGHTEN, "batch-size"),
    "harmless-rows-skipped": driven(FRIGHTEN, "rows"),
    "harmless-elastic-restart": driven(FRIGHTEN, "restart", ranks=2, restarts=2),
    "harmless-elastic-restart-4.57": driven(FRIGHTEN, "restart", "reported", ranks=2, restarts=1),
    "harmless-samples": driven(FRIGHTEN, "samples"),
    "harmless-warnings": driven(FRIGHTEN, "warnings"),
    "harmless-retries": driven(FRIGHTEN, "retries"),
    "harmless-scaler": driven(FRIGHTEN, "scaler"),
    "harmless-stack-dump": driven(FRIGHTEN, "stack"),
    "harmless-error-at-exit": driven(FRIGHTEN, "finally"),
    "harmless-swift-development-mode": swift("current", "--save_steps", "3", PYTHONDEVMODE="1"),
}  # fmt: skip


def collect(name: str, training: Training, work: Path) -> bool:
    python = (ENVS / training.env / "bin" / "python").absolute()
    model = prepare_model(ENVS / "current" / "bin" / "python", LAB)
    rows = prepare_data(ENVS / "current" / "bin" / "python", LAB, ("--rows", "24"))
    run = ReportedRun(python, model, rows, work / name, ranks=training.ranks, flags=training.flags,
                      environment={**training.environment, "MODEL": str(model)})  # fmt: skip
    argv = reported_argv(run)
    if training.driver is not None:
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={training.ranks}",
                    f"--max_restarts={training.restarts}"] if training.ranks > 1 else []  # fmt: skip
        argv = [str(python), *launcher, str(training.driver), str(work / name), training.kind]
    ran = subprocess.run(argv, env=reported_environment(run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)  # fmt: skip
    text = replace_places(ran.stdout.decode("utf-8", "replace"), work)
    if ran.returncode == 0:
        (HERE / "healthy" / f"{name}.log").write_text(text, encoding="utf-8")
    print(f"{name}: exit {ran.returncode}, {len(text):,} characters" if ran.returncode == 0 else text, flush=True)
    return ran.returncode == 0


def main(names: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="collect-") as work:
        wanted = {name: TRAININGS[name] for name in names or TRAININGS}
        ended = [collect(name, training, Path(work)) for name, training in wanted.items()]
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
