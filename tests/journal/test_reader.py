"""A run folder can be read while it is written, torn, or a year later."""

import json

from laststep.journal.layout import RunFolder
from laststep.journal.reader import read_attempt_ending, read_events
from laststep.journal.writer import Journal, make_attempt_folder
from laststep.records.ending import Ending, ProcessEnd, StopManner, StopRequest, read_ending, write_ending


def test_our_events_and_the_guards_are_merged_by_time(tmp_path):
    folder = RunFolder(tmp_path)
    attempt = make_attempt_folder(folder, 1)
    Journal(folder).add_event("attempt_started", 1.0, attempt=1)
    Journal(folder).add_event("attempt_ended", 9.0)
    line = json.dumps({"time": 5.0, "kind": "worker_died", "pid": 7, "rank": 0, "code": -9})
    (attempt.events / "guard-7.jsonl").write_text(line + "\n")

    events = read_events(folder)

    assert [event.kind for event in events] == ["attempt_started", "worker_died", "attempt_ended"]
    assert (events[1].rank, events[1].fields) == (0, {"code": -9})


def test_a_torn_last_line_is_normal(tmp_path):
    folder = RunFolder(tmp_path)
    folder.events.write_bytes(b'{"time": 1, "kind": "a", "pid": 1, "rank": null}\n{"time": 2, "ki')

    assert [event.kind for event in read_events(folder)] == ["a"]


def test_lines_that_are_no_events_are_left_out(tmp_path):
    folder = RunFolder(tmp_path)
    folder.events.write_bytes(b'\n[]\n1\nnull\n{}\n{"time": "x", "kind": 1}\n\xff\xfe\n')

    assert read_events(folder) == []


def test_an_empty_folder_says_nothing(tmp_path):
    assert read_events(RunFolder(tmp_path / "gone")) == []
    assert read_attempt_ending(RunFolder(tmp_path).attempt(1)) is None


def test_an_ending_comes_back_as_it_was():
    ending = Ending(
        command=ProcessEnd(5, -9, 7.5),
        started_at=1.0,
        sweep_began_at=8.0,
        stop_requests=(StopRequest(StopManner.WELL, 6.0),),
        reaped=(ProcessEnd(6, 0, 7.0),),
        segments_removed=("torch_1_2_3",),
    )

    assert read_ending(json.loads(json.dumps(write_ending(ending)))) == ending
