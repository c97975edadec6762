"""A flag of an older ms-swift is given to this one, which does not know it."""

CAUSE = "configuration.argument-rejected"


def break_run(scene):
    return scene.run(scene.swift("--flash_attn", "true"))
