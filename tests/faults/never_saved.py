"""The run ends in order, but its save strategy was "no": nothing is left of it."""

CAUSE = "checkpoint.never-saved"


def break_run(scene):
    broken = scene.run(scene.swift("--save_strategy", "no", "--eval_strategy", "no"), fails=False)
    return broken.expect(not list(scene.out.rglob("checkpoint-*")), "a checkpoint was saved")
