"""What the guards reported becomes a few lines that a person can act on."""

from laststep.records.event import Event
from laststep.records.text import Language
from laststep.supervisor.failed_saves import word_trouble
from laststep.supervisor.faults import list_faults
from laststep_guard.wire import EventKind


def say(*events):
    return [fault.summary.say(Language.ENGLISH) for fault in list_faults(events)]


def event(kind, time=0.0, rank=0, **fields):
    return Event(time, kind, pid=1, rank=rank, fields=fields)


def test_many_deaths_are_one_line_with_what_was_done():
    deaths = [event(EventKind.WORKER_DIED, loader="train", worker=n, code=-9) for n in range(12)]
    rebuilt = [event(EventKind.LOADER_REBUILT, seconds=0.05 * n, resent=2, note=None) for n in range(1, 4)]

    assert say(*deaths, *rebuilt) == [
        "12 loader worker(s) died (SIGKILL); loader rebuilt 3 time(s), 6 batch(es) sent again, longest pause 0.15 s"
    ]


def test_what_could_not_be_kept_is_said():
    death = event(EventKind.WORKER_DIED, worker=1, code=1)
    rebuilt = event(EventKind.LOADER_REBUILT, seconds=0.1, resent=0, note="an iterable data set starts anew")

    assert say(death, rebuilt)[0].endswith("Not kept: an iterable data set starts anew")


def test_rows_without_a_gradient_are_named_once():
    events = [event(EventKind.LOSS_DETACHED, step=n, rows=["row 4", "row 9"], tied=True) for n in range(3)]

    (line,) = say(*events)

    assert line.startswith("the loss of 3 micro-batch(es) reached no trainable parameter; tied")
    assert line.endswith("Rows: row 4, row 9")


def test_a_long_list_of_rows_is_cut_for_people_and_whole_in_the_details():
    rows = [f"row {n}" for n in range(40)]
    (fault,) = list_faults([event(EventKind.LOSS_DETACHED, rows=rows, tied=False)])

    assert fault.summary.en.endswith("(+28)")
    assert fault.details["rows"] == rows


def test_rows_are_in_the_order_of_their_numbers():
    rows = ["record 10: b", "record 9: a", "record 10: a"]
    (fault,) = list_faults([event(EventKind.LOSS_DETACHED, rows=rows, tied=True)])

    assert fault.details["rows"] == ["record 9: a", "record 10: a", "record 10: b"]


def test_a_shrunk_loader_is_told_with_its_numbers():
    shrunk = event(
        EventKind.LOADER_SHRUNK, 1, in_flight=1, processes=1, free_bytes=2**30, batch_bytes=2**31, limit="cgroup"
    )
    grew = event(EventKind.LOADER_GREW, 2, in_flight=6, processes=4)

    assert say(shrunk, grew)[0] == (
        "cgroup memory was short (1.0 GiB free, a batch takes 2.0 GiB): loader cut 1 time(s), down to"
        " 1 batch(es) in flight in 1 process(es); 6 at the end"
    )


def test_a_loader_that_only_grew_is_no_fault():
    assert say(event(EventKind.LOADER_GREW, in_flight=6, processes=4)) == []


def test_a_batch_that_does_not_fit_says_how_much_is_missing():
    numbers = {"needed_bytes": 9 * 2**30, "free_bytes": 7 * 2**30, "limit": "cgroup", "limit_bytes": 8 * 2**30}

    assert (
        "needs 9.0 GiB, and cgroup memory leaves 7.0 GiB of 8.0 GiB. Rows: row 1"
        in say(event(EventKind.BATCH_DOES_NOT_FIT, rows=["row 1"], **numbers))[0]
    )


def test_a_summed_loss_says_how_far_off_it_is():
    assert "8 times too high" in say(event(EventKind.LOSS_SUMMED, factor=8, fixed=False))[0]


def test_braces_in_what_was_seen_are_not_taken_for_places():
    assert "KeyError: {'a': 1}" in say(event(EventKind.RANK_FAILED, error="KeyError", message="{'a': 1}", step=3))[0]


def test_events_without_their_fields_are_no_reason_to_fail():
    """A guard of another version wrote them."""
    kinds = [value for name, value in vars(EventKind).items() if name.isupper()]

    list_faults([event(kind) for kind in kinds])


def test_faults_come_in_the_order_they_were_met():
    kinds = [
        fault.kind
        for fault in list_faults([event(EventKind.LOSS_DETACHED, 1, rows=[]), event(EventKind.WORKER_DIED, 2, code=-9)])
    ]

    assert kinds == [EventKind.LOSS_DETACHED, EventKind.WORKER_DIED]


def test_saves_that_failed_are_told_with_the_one_that_came_through():
    failed = [event(EventKind.SAVE_FAILED, step=step, reason="No space left on device") for step in (9, 10)]
    saved = [event(EventKind.CHECKPOINT_SAVED, step=step) for step in (6, 12)]

    assert say(*saved, *failed) == [
        "2 save(s) failed, at step 9, 10: No space left on device. The training went on; saved again at step 12"
    ]
    assert say(saved[0], *failed)[0].endswith("make room, or what was trained since step 6 is lost at its end")


def test_logs_that_could_not_be_written_are_one_line():
    events = [event(EventKind.LOG_NOT_WRITTEN, where="TensorBoardCallback", reason="No space left") for _ in range(3)]

    assert say(*events) == ["3 log entry(ies) could not be written (TensorBoardCallback): No space left"]


def test_a_last_save_that_waits_says_what_it_needs():
    waiting = event(EventKind.SAVE_WAITS, path="/out/checkpoint-9", needed_bytes=2**21, free_bytes=2**20, seconds=600)

    assert word_trouble(waiting).en == (
        "the last save needs 2.0 MiB, and 1.0 MiB are free: it waits up to 10 min. Make room beside /out/checkpoint-9"
    )
