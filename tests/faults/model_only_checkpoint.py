"""A DeepSpeed run goes on from a checkpoint that was saved with save_only_model."""

CAUSE = "resume.model-only-checkpoint"


def break_run(scene):
    flags = ("--deepspeed", "zero2", "--torch_dtype", "bfloat16", "--eval_strategy", "no")
    only = scene.swift(*flags, "--max_steps", "5", "--save_only_model", "true", DS_ACCELERATOR="cpu", ranks=2)
    first = scene.run(only, fails=False)
    checkpoint = next(scene.out.glob("*/checkpoint-5"))
    first.expect(first.exit_code == 0 and not list(checkpoint.glob("global_step*")), "there is an engine state")
    return scene.run(scene.swift(*flags, "--resume_from_checkpoint", str(checkpoint), DS_ACCELERATOR="cpu", ranks=2))
