"""A run that had made all its steps is resumed with the same number of steps."""

CAUSE = "resume.nothing-left"


def break_run(scene):
    flags = ("--max_steps", "5", "--eval_strategy", "no")
    first = scene.run(scene.swift(*flags), fails=False)
    checkpoint = next(scene.out.glob("*/checkpoint-5"))
    first.expect(first.exit_code == 0, "the first run failed")
    return scene.run(scene.swift(*flags, "--resume_from_checkpoint", str(checkpoint)), fails=False)
