"""An image that a row names is not there, and every row is to be kept."""

import json

CAUSE = "data.bad-rows"


def break_run(scene):
    rows = json.loads(scene.rows().read_text(encoding="utf-8"))
    rows = json.loads(json.dumps(rows).replace(".png", "-moved.png").replace(".jpg", "-moved.jpg"))
    moved = scene.work / "rows.json"
    moved.write_text(json.dumps(rows), encoding="utf-8")
    return scene.run(scene.swift("--strict", "true", rows=moved))
