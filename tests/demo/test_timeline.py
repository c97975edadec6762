"""The demonstration is told in order, each fact once."""

from pathlib import Path

import pytest

from laststep.cli.render_demo import list_demonstration_values, write_demonstration_lines
from laststep.demo.demonstrate import Demonstration
from laststep.demo.kill_workers import Kill
from laststep.demo.run_laststep import SupervisedRun
from laststep.demo.timeline import tell_timeline
from laststep.demo.trained import Trained
from laststep.records.event import Event
from laststep_guard.wire import EventKind, Phase

KILL = Kill(time=112.0, occasion="step 2", worker=77, rank=1, step=2, phase=Phase.STEP)
EVENTS = (
    Event(110.0, EventKind.TRAIN_BEGAN, 5, 0, {"target_step": 14}),
    Event(110.1, EventKind.TRAIN_BEGAN, 6, 1, {"target_step": 14}),
    Event(112.5, EventKind.LOADER_REBUILT, 6, 1, {"loader": "train", "seconds": 0.0512, "resent": 3}),
    Event(113.0, EventKind.LOSS_DETACHED, 6, 1, {"tied": True, "rows": ["row 8", "row 9"]}),
    Event(115.0, EventKind.CHECKPOINT_SAVED, 5, 0, {"step": 5}),
    Event(115.0, EventKind.CHECKPOINT_SAVED, 6, 1, {"step": 5}),
    Event(116.0, EventKind.GUARD_ERROR, 6, 1, {}),
    Event(120.0, EventKind.TRAIN_ENDED, 5, 0, {"step": 14, "target_step": 14}),
)


def test_a_run_is_told_from_its_kills_and_events():
    """What all ranks report is told once, by no rank in particular."""
    told = [(moment.seconds, moment.rank, moment.mark) for moment in tell_timeline(EVENTS, [KILL], 100.0)]
    assert told == [
        (10.0, None, "note"),
        (12.0, 1, "kill"),
        (12.5, 1, "cure"),
        (13.0, 1, "cure"),
        (15.0, None, "save"),
        (20.0, None, "end"),
    ]


def test_the_words_say_what_was_done():
    texts = [moment.text for moment in tell_timeline(EVENTS, [KILL], 100.0)]
    assert texts[1] == "SIGKILL to loader worker 77, at step 2, phase step"
    assert texts[2] == "loader rebuilt in 0.05 s, 3 batches asked for again"
    assert texts[3].endswith("row 8 and 1 more")


def run(losses, exit_code=0, output=""):
    trained = Trained(losses=losses, steps=len(losses), train_seconds=3.0, checkpoints=(5, 14), adapter=None)
    return SupervisedRun(exit_code=exit_code, report={}, trained=trained, run_folder=Path("/run"), output=output)


def demonstration(disturbed, undisturbed, kills=(KILL,), missed=()):
    return Demonstration(
        moments=tell_timeline(EVENTS, kills, 100.0),
        kills=tuple(kills),
        missed=tuple(missed),
        disturbed=disturbed,
        undisturbed=undisturbed,
        disturbed_seconds=40.0,
        undisturbed_seconds=30.0,
    )


@pytest.mark.parametrize(
    "shown",
    [
        demonstration(run((1.0, 2.0)), run((1.0, 2.5))),
        demonstration(run(()), run(())),
        demonstration(run((1.0,), exit_code=1, output="last words"), run((1.0,))),
        demonstration(run((1.0,)), run((1.0,)), missed=["during save"]),
        demonstration(run((1.0,)), run((1.0,)), kills=()),
    ],
    ids=["other losses", "no losses", "failed", "a kill was missed", "nobody was killed"],
)
def test_anything_less_than_equal_runs_with_real_kills_proves_nothing(shown):
    assert not shown.is_proven
    assert not list_demonstration_values(shown)["proven"]


def test_a_failed_run_shows_its_last_words():
    shown = demonstration(run((1.0,), exit_code=1, output="last words"), run((1.0,)))
    assert any("last words" in line for line in write_demonstration_lines(shown))


def test_colours_are_only_used_where_asked_for():
    shown = demonstration(run((1.0,)), run((1.0,)))
    assert "\x1b" not in "".join(write_demonstration_lines(shown))
    assert "\x1b" in "".join(write_demonstration_lines(shown, is_colourful=True))
