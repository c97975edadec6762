"""Each event is read once, also when its line was torn at the first look."""

import json

from laststep.journal.tail_events import EventTail


def line(at, kind="step"):
    return json.dumps({"time": at, "kind": kind, "pid": 1, "rank": 0})


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_only_what_is_new_is_read_in_the_order_of_time(tmp_path):
    tail = EventTail(tmp_path)
    (tmp_path / "guard-1.jsonl").write_text(line(2.0) + "\n")
    (tmp_path / "guard-2.jsonl").write_text(line(1.0) + "\n")
    first = tail.read_new()
    append(tmp_path / "guard-2.jsonl", line(3.0) + "\n")

    assert [event.time for event in first] == [1.0, 2.0]
    assert [event.time for event in tail.read_new()] == [3.0]
    assert tail.read_new() == []


def test_a_line_that_is_not_whole_waits(tmp_path):
    tail, file = EventTail(tmp_path), tmp_path / "guard-1.jsonl"
    whole = line(1.0) + "\n"
    file.write_text(whole[:10])

    assert tail.read_new() == []

    append(file, whole[10:])
    assert [event.time for event in tail.read_new()] == [1.0]


def test_a_folder_that_is_not_there_has_no_events(tmp_path):
    assert EventTail(tmp_path / "none").read_new() == []
