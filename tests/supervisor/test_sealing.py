"""A save that all ranks have finished is sealed; a run goes on from the newest sound one of its own."""

import errno
import json
import shutil
import time

import pytest
from small_checkpoints import write_checkpoint  # found by conftest.py

from laststep.checkpoints import manifest
from laststep.checkpoints.sealed_files import read_manifest
from laststep.journal.reader import read_events
from laststep.journal.writer import make_attempt_folder
from laststep.records.event import OwnEventKind
from laststep.supervisor import resume_point
from laststep.supervisor.resume_point import (
    find_resume_point,
    list_own_checkpoints,
    list_skipped,
    look_for_point,
    read_point,
)
from laststep.supervisor.resume_states import hand_on_states
from laststep.supervisor.seal_saves import seal_saves
from laststep_guard import wire
from laststep_guard.emit import Emitter


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out"


def begin(place, output):
    Emitter(str(place.events), 0).emit(wire.EventKind.TRAIN_BEGAN, step=0, target_step=99, output_dir=str(output))


def save(place, output, step, *, ranks=(0,), world_size=1):
    """Save as the ranks do, and let them say so."""
    checkpoint = write_checkpoint(output / f"checkpoint-{step}", step=step, ranks=world_size)
    files = {path.name: path.stat().st_size for path in checkpoint.iterdir()}
    for rank in ranks:
        (place.states / wire.states_name(step, rank)).write_text(json.dumps({"step": step, "rank": rank}))
        emitter = Emitter(str(place.events), rank)
        fields = {"path": str(checkpoint), "step": step, "world_size": world_size, "files": files}
        emitter.emit(wire.EventKind.SAVE_PART_DONE, **fields)
    return checkpoint


def seal(run, place, console, clock):
    with seal_saves(run, place, console=console, clock=clock):
        pass


def test_a_finished_save_is_sealed_with_its_run_and_its_random_states(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5)

    seal(run, place, console, clock)

    manifest = read_manifest(checkpoint)
    assert (manifest.run_id, manifest.step, manifest.random_states["0"]["rank"]) == ("abcde", 5, 0)
    assert list(place.states.iterdir()) == []
    assert console.said == []


def test_a_save_that_a_rank_has_not_finished_is_not_sealed(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5, ranks=(0,), world_size=2)

    seal(run, place, console, clock)

    assert read_manifest(checkpoint) is None


def test_a_save_that_is_not_whole_is_told_and_not_sealed(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5)
    (checkpoint / "optimizer.pt").unlink()

    seal(run, place, console, clock)

    assert read_manifest(checkpoint) is None
    assert "the checkpoint of step 5 is not sound" in console.said[0]


def test_a_save_that_failed_on_a_rank_is_told_and_not_sealed(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5, ranks=(0,), world_size=2)
    fields = {"path": str(checkpoint), "step": 5, "reason": "No space left on device", "free_bytes": 4096}
    Emitter(str(place.events), 1).emit(wire.EventKind.SAVE_FAILED, **fields, file="rng_state_1.pth", again_at=6)

    seal(run, place, console, clock)

    assert read_manifest(checkpoint) is None
    (said,) = console.said
    assert said.startswith(
        "the save of step 5 failed on rank 1: No space left on device, 4.0 KiB free, rng_state_1.pth"
    )
    assert said.endswith("it is tried again at step 6")


def test_a_folder_that_was_written_again_loses_the_mark_of_its_failed_save(run, output, console, clock):
    """As when the run was resumed before the step whose save had failed."""
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5)
    (checkpoint / wire.INCOMPLETE_MARKER).write_text("laststep: no space")

    seal(run, place, console, clock)

    assert read_manifest(checkpoint) is not None
    assert not (checkpoint / wire.INCOMPLETE_MARKER).exists()


def let_go(place, output, newer, *older):
    going = [str(output / f"checkpoint-{step}") for step in older]
    fields = {"path": str(output / f"checkpoint-{newer}"), "step": newer, "remove": going}
    Emitter(str(place.events), 0).emit(wire.EventKind.RETENTION_DUE, **fields)


def test_what_the_limit_lets_go_of_goes_when_the_new_one_is_sealed(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    for step in (5, 10, 15):
        save(place, output, step)
    let_go(place, output, 15, 5)

    seal(run, place, console, clock)

    assert sorted(path.name for path in output.iterdir()) == ["checkpoint-10", "checkpoint-15"]
    (event,) = [event for event in read_events(run) if event.kind == OwnEventKind.CHECKPOINTS_REMOVED]
    assert event.fields["paths"] == [str(output / "checkpoint-5")]


def test_nothing_goes_for_a_new_one_that_is_not_sound(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    save(place, output, 5)
    (save(place, output, 10) / "optimizer.pt").unlink()
    let_go(place, output, 10, 5)

    seal(run, place, console, clock)

    assert sorted(path.name for path in output.iterdir()) == ["checkpoint-10", "checkpoint-5"]


def test_where_there_is_no_room_for_a_manifest_the_limit_makes_some(run, output, console, clock, monkeypatch):
    place = make_attempt_folder(run, 1)
    for step in (5, 10):
        save(place, output, step)
    let_go(place, output, 10, 5)
    write = manifest.write_durably

    def write_if_there_is_room(path, data):
        if (output / "checkpoint-5").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(manifest, "write_durably", write_if_there_is_room)

    seal(run, place, console, clock)

    assert [path.name for path in output.iterdir()] == ["checkpoint-10"]
    assert read_manifest(output / "checkpoint-10") is not None


def test_a_manifest_that_found_no_room_is_tried_again(run, output, console, clock, monkeypatch):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5)
    write, tries = manifest.write_durably, []

    def write_the_second_time(path, data):
        tries.append(path)
        if len(tries) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    monkeypatch.setattr(manifest, "write_durably", write_the_second_time)

    with seal_saves(run, place, console=console, clock=clock):
        wait_until(lambda: len(tries) == 1)
        clock.seconds = 5.0
        time.sleep(1.1)  # two looks, and too soon to read everything once more
        assert len(tries) == 1
        clock.seconds = 20.0
        wait_until(lambda: len(tries) == 2)

    assert read_manifest(checkpoint) is not None
    told = [event.fields["soundness"] for event in read_events(run) if event.kind == OwnEventKind.CHECKPOINT_SEALED]
    assert told == ["unknown", "sound"]


def wait_until(is_so):
    until = time.monotonic() + 20
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)


def test_who_attaches_later_does_not_read_everything_again(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    checkpoint = save(place, output, 5)
    clock.seconds = 1e12
    seal(run, place, console, clock)
    written_at = (checkpoint / "laststep-manifest.json").stat().st_mtime_ns

    seal(run, place, console, clock)

    assert (checkpoint / "laststep-manifest.json").stat().st_mtime_ns == written_at


def test_the_newest_sound_checkpoint_is_taken_and_newer_ones_are_named(run, output, console, clock):
    place = make_attempt_folder(run, 1)
    begin(place, output)
    for step in (5, 10, 15):
        save(place, output, step)
    seal(run, place, console, clock)
    damage(output / "checkpoint-15" / "adapter_model.safetensors")
    (output / "checkpoint-10" / "scheduler.pt").unlink()

    point = find_resume_point(run)

    assert (point.step, point.path) == (5, str(output / "checkpoint-5"))
    assert [skipped.step for skipped in point.skipped] == [15, 10]
    assert all(skipped.reasons for skipped in point.skipped)


def damage(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1  # one bit, in the data of a tensor
    path.write_bytes(data)


def test_higher_steps_of_an_earlier_run_are_left_aside(run, output, console, clock):
    """As when a run was started over in the same folder."""
    place = make_attempt_folder(run, 1)
    begin(place, output)
    write_checkpoint(output / "checkpoint-20", step=20)
    save(place, output, 5)

    assert [path.name for path in list_own_checkpoints(run)] == ["checkpoint-5"]


def test_without_a_sound_one_there_is_no_point_and_all_are_named(run, output):
    place = make_attempt_folder(run, 1)
    begin(place, output)
    (save(place, output, 5) / "optimizer.pt").unlink()

    choice = look_for_point(run)

    assert read_point(choice) is None
    assert [skipped.step for skipped in list_skipped(choice)] == [5]


def test_a_garbled_manifest_and_a_checkpoint_that_vanishes_end_nothing(run, output, console, clock, monkeypatch):
    """As when the trainer's own rotation comes between the look and the verification."""
    place = make_attempt_folder(run, 1)
    begin(place, output)
    for step in (5, 10, 15):
        save(place, output, step)
    seal(run, place, console, clock)
    (output / "checkpoint-15" / "laststep-manifest.json").write_text("{")
    own = list_own_checkpoints(run)
    monkeypatch.setattr(resume_point, "list_own_checkpoints", lambda _run: own)
    shutil.rmtree(output / "checkpoint-10")

    point = find_resume_point(run)

    assert (point.step, [skipped.step for skipped in point.skipped]) == (5, [15])


@pytest.mark.parametrize("is_sealed", [True, False])
def test_the_next_attempt_finds_the_states_of_its_ranks(run, output, console, clock, is_sealed):
    """In the manifest, or where the attempt that saved left them."""
    first = make_attempt_folder(run, 1)
    begin(first, output)
    save(first, output, 5)
    if is_sealed:
        seal(run, first, console, clock)
    second = make_attempt_folder(run, 2)

    assert hand_on_states(run, second, find_resume_point(run)) == 1
    assert json.loads((second.resume_states / wire.states_name(5, 0)).read_text())["rank"] == 0
