"""The reported ms-swift run saves into a file system that is too small for its second checkpoint."""

CAUSE = "disk.full"


def break_run(scene):
    with scene.small_disk(1 << 20):
        return scene.run(scene.swift("--save_steps", "2", "--eval_strategy", "no"))
