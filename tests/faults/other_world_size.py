"""A DeepSpeed run of two ranks goes on with one."""

CAUSE = "resume.world-size-changed"


def break_run(scene):
    flags = ("--deepspeed", "zero2", "--torch_dtype", "bfloat16", "--eval_strategy", "no")
    first = scene.run(scene.swift(*flags, "--max_steps", "5", DS_ACCELERATOR="cpu", ranks=2), fails=False)
    checkpoint = next(scene.out.glob("*/checkpoint-5"))
    first.expect(first.exit_code == 0, "the first run failed")
    again = ("--resume_from_checkpoint", str(checkpoint))
    return scene.run(scene.swift(*flags, *again, DS_ACCELERATOR="cpu", NPROC_PER_NODE="1"))
