"""What is wrong with a checkpoint is found and named, and nothing is said of a sound one."""

import json
import os
import struct

import pytest
from small_checkpoints import STEP, age, dump, floats, optimiser, tensor, torch_archive, weights, write_checkpoint

from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.verify import Manner, look_at_checkpoint, verify_checkpoint
from laststep.records.checkpoint import ProblemKind as Kind
from laststep.records.checkpoint import SaveFacts, Soundness
from laststep.records.errors import CheckpointError

NAN, INFINITE = float("nan"), float("inf")


def kinds(checkpoint, **options):
    checked = verify_checkpoint(checkpoint, **options)
    return {(problem.kind, problem.file) for problem in checked.problems}


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_sound_checkpoint_has_no_problems(tmp_path, ranks):
    checked = verify_checkpoint(write_checkpoint(tmp_path / "checkpoint-10", ranks=ranks), is_deep=True)

    assert checked.problems == ()
    assert (checked.soundness, checked.step, checked.world_size) == (Soundness.SOUND, STEP, ranks)
    assert not checked.is_sealed


@pytest.mark.parametrize(
    "name",
    [
        "adapter_config.json", "adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth",
        "trainer_state.json", "training_args.bin",
    ],
)  # fmt: skip
def test_what_is_missing_is_named(checkpoint, name):
    (checkpoint / name).unlink()
    assert (Kind.MISSING, name) in {(kind, file) for kind, file in kinds(checkpoint)}


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "optimizer.pt", "rng_state.pth", "trainer_state.json"])
def test_a_file_cut_off_anywhere_is_torn(checkpoint, name):
    whole = (checkpoint / name).read_bytes()
    for length in range(0, len(whole), 41):
        (checkpoint / name).write_bytes(whole[:length])
        age(checkpoint)
        assert kinds(checkpoint) >= {(Kind.TORN, name)}, length


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", Kind.TORN),
        (bytes(9000), Kind.ZERO_FILLED),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", Kind.LFS_POINTER),
        (b"<!DOCTYPE html><html>404</html>", Kind.HTML_PAGE),
    ],
)
@pytest.mark.parametrize("name", ["adapter_model.safetensors", "optimizer.pt", "trainer_state.json"])
def test_what_stands_in_place_of_a_file_is_recognised(checkpoint, name, content, kind):
    (checkpoint / name).write_bytes(content)
    assert (kind, name) in kinds(checkpoint)


def test_a_zero_page_within_rows_is_lost_data(checkpoint):
    data = bytearray(weights(rank=64, value=0.5))
    data[8192:12288] = bytes(4096)
    (checkpoint / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 64}')
    (checkpoint / "adapter_model.safetensors").write_bytes(data)
    age(checkpoint)

    assert kinds(checkpoint) == {(Kind.ZERO_FILLED, "adapter_model.safetensors")}


def test_a_fresh_adapter_full_of_zeros_is_sound(checkpoint):
    (checkpoint / "adapter_model.safetensors").write_bytes(weights(value=0.0))
    age(checkpoint)
    assert kinds(checkpoint, is_deep=True) == set()


@pytest.mark.parametrize("value", [NAN, INFINITE, -INFINITE])
def test_numbers_that_are_not_finite_are_found_when_asked_for(checkpoint, value):
    (checkpoint / "adapter_model.safetensors").write_bytes(weights(value=value))
    (checkpoint / "optimizer.pt").write_bytes(
        torch_archive(dump({"state": {0: {"m": tensor("0", 2)}}}), {"0": floats(1, value)})
    )
    age(checkpoint)

    assert kinds(checkpoint) == set()
    assert kinds(checkpoint, is_deep=True) == {
        (Kind.NOT_FINITE, "adapter_model.safetensors"), (Kind.NOT_FINITE, "optimizer.pt"),
    }  # fmt: skip


def test_large_numbers_are_finite(checkpoint):
    (checkpoint / "adapter_model.safetensors").write_bytes(weights(value=3.4e38))
    age(checkpoint)
    assert kinds(checkpoint, is_deep=True) == set()


def test_an_optimiser_of_another_step_is_found(checkpoint):
    (checkpoint / "optimizer.pt").write_bytes(optimiser(step=5))
    assert kinds(checkpoint) == {(Kind.WRONG_STEP, "optimizer.pt")}


def test_under_fp16_skipped_steps_are_no_damage(checkpoint):
    """Trainer counts steps whose gradients overflowed; optimiser and scheduler do not."""
    (checkpoint / "args.json").write_text(json.dumps({"fp16": True}))
    (checkpoint / "optimizer.pt").write_bytes(optimiser(step=8))
    (checkpoint / "scheduler.pt").write_bytes(torch_archive(dump({"last_epoch": 8}), {}))
    age(checkpoint)
    assert kinds(checkpoint) == set()


def test_a_state_of_another_step_than_the_folder_is_found(tmp_path):
    folder = write_checkpoint(tmp_path / "checkpoint-10", step=5)
    folder = folder.rename(tmp_path / "checkpoint-15")
    assert (Kind.WRONG_STEP, "trainer_state.json") in kinds(folder)


def test_another_rank_than_the_configuration_says_is_found(checkpoint):
    (checkpoint / "adapter_config.json").write_text('{"peft_type": "LORA", "r": 16}')
    assert (Kind.WRONG_SHAPE, "adapter_model.safetensors") in kinds(checkpoint)


def test_a_tensor_whose_name_lost_a_bit_is_found(checkpoint):
    path = checkpoint / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes().replace(b"layers.1.q_proj.lora_B", b"layers.1.q_prnj.lora_B"))
    assert (Kind.TORN, path.name) in kinds(checkpoint)


def test_a_random_state_of_two_is_missed(tmp_path):
    folder = write_checkpoint(tmp_path / "checkpoint-10", ranks=2)
    (folder / "rng_state_1.pth").unlink()
    assert kinds(folder) == {(Kind.MISSING, "rng_state_1.pth")}


def test_more_random_states_than_ranks_are_found(tmp_path):
    folder = write_checkpoint(tmp_path / "checkpoint-10", ranks=3)
    (folder / "args.json").write_text('{"global_world_size": 2}')
    assert (Kind.WRONG_WORLD_SIZE, "rng_state_2.pth") in kinds(folder)


def test_a_run_that_saves_only_the_model_is_told_why(checkpoint):
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        (checkpoint / name).unlink()
    (checkpoint / "args.json").write_text('{"save_only_model": true}')
    age(checkpoint)

    checked = verify_checkpoint(checkpoint)

    assert checked.soundness is Soundness.UNSOUND
    assert any("save_only_model" in problem.words.en for problem in checked.problems)


def test_a_marker_of_an_unfinished_save_is_believed(checkpoint):
    (checkpoint / "checkpoint-is-incomplete.txt").write_text("x")
    assert kinds(checkpoint) == {(Kind.MARKED_INCOMPLETE, "checkpoint-is-incomplete.txt")}


def test_a_folder_being_written_is_not_judged(checkpoint):
    """It is young and not whole: a look in a minute may find it sound."""
    (checkpoint / "optimizer.pt").unlink()

    class Clock:
        def now(self):
            return (checkpoint / "scheduler.pt").stat().st_mtime + 3

    checked = look_at_checkpoint(checkpoint, Manner(), clock=Clock())

    assert checked.soundness is Soundness.UNKNOWN
    assert Kind.BEING_WRITTEN in {problem.kind for problem in checked.problems}


def test_what_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(CheckpointError, match="is no checkpoint"):
        verify_checkpoint(tmp_path)


def test_an_empty_checkpoint_is_unsound(tmp_path):
    (tmp_path / "checkpoint-3").mkdir()
    assert verify_checkpoint(tmp_path / "checkpoint-3").soundness is Soundness.UNSOUND


@pytest.fixture
def unprivileged(checkpoint):
    """Root may read everything: be somebody else for a moment."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs users as Unix has them")
    if os.geteuid() != 0:
        yield
        return
    opened = [folder for folder in checkpoint.parents if folder.stat().st_uid == 0 and not folder.stat().st_mode & 1]
    for folder in opened:
        folder.chmod(folder.stat().st_mode | 0o011)
    os.seteuid(65534)
    yield
    os.seteuid(0)


@pytest.mark.parametrize("name", ["optimizer.pt", "."])
def test_what_may_not_be_read_is_unknown(checkpoint, request, name):
    (checkpoint / name).chmod(0)
    request.getfixturevalue("unprivileged")
    checked = verify_checkpoint(checkpoint)
    assert checked.soundness is Soundness.UNKNOWN
    assert {problem.kind for problem in checked.problems} == {Kind.UNREADABLE}


def test_links_in_circles_end(checkpoint):
    (checkpoint / "circle").symlink_to(checkpoint)
    (checkpoint / "loop.json").symlink_to(checkpoint / "loop.json")
    assert verify_checkpoint(checkpoint).soundness is Soundness.UNKNOWN


@pytest.mark.parametrize("length", [0, 1, 1 << 40, (1 << 64) - 1])
def test_a_header_of_a_mad_length_is_torn(checkpoint, length):
    path = checkpoint / "adapter_model.safetensors"
    path.write_bytes(struct.pack("<Q", length) + path.read_bytes()[8:])
    assert (Kind.TORN, path.name) in kinds(checkpoint)


def test_progress_reaches_the_total(checkpoint):
    seen = []
    seal_checkpoint(checkpoint, SaveFacts())
    verify_checkpoint(checkpoint, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] <= seen[-1][1]
