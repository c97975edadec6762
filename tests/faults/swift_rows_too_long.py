"""Every row is longer than max_length, and rows that cannot be encoded are an error."""

CAUSE = "data.rows-too-long"


def break_run(scene):
    return scene.run(scene.swift("--max_length", "32", "--truncation_strategy", "delete", "--strict", "true"))
