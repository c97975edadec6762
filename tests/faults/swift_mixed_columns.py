"""One row of the data set has a list where the others have a text."""

import json

CAUSE = "data.bad-rows"


def break_run(scene):
    rows = scene.work / "rows.jsonl"
    turns = [{"role": "user", "content": "Which animal barks?"}, {"role": "assistant", "content": "The dog."}]
    lines = [{"messages": turns, "source": "a"} for _ in range(20)]
    lines.append({"messages": "Which animal barks? The dog.", "source": ["b"]})
    rows.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return scene.run(scene.swift(rows=rows))
