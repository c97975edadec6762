"""The adapter of the checkpoint from which ms-swift goes on was cut short."""

import os

CAUSE = "checkpoint.torn"


def break_run(scene):
    first = scene.run(scene.swift("--max_steps", "5", "--eval_strategy", "no"), fails=False)
    weights = next(scene.out.glob("*/checkpoint-5/adapter_model.safetensors"))
    os.truncate(weights, weights.stat().st_size // 2)
    first.expect(first.exit_code == 0, "the first run failed")
    return scene.run(scene.swift("--resume_from_checkpoint", str(weights.parent)))
