"""A manifest tells later whether anything changed, and is never given to an unsound checkpoint."""

import os
import shutil

import pytest
from small_checkpoints import LONG_AGO, age, write_checkpoint

from laststep.checkpoints.manifest import read_manifest, seal_checkpoint
from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import ProblemKind as Kind
from laststep.records.checkpoint import SaveFacts, Soundness
from laststep_guard.wire import MANIFEST_NAME

FACTS = SaveFacts(
    run_id="k3f9a", step=10, world_size=1, data_position={"epoch": 0, "batch": 40}, random_states={"0": "x"}
)


def kinds(checkpoint, **options):
    return {(problem.kind, problem.file) for problem in verify_checkpoint(checkpoint, **options).problems}


def test_what_is_sealed_is_read_back(checkpoint):
    sealed = seal_checkpoint(checkpoint, FACTS)
    manifest = read_manifest(checkpoint)

    assert (sealed.is_sealed, sealed.run_id, sealed.soundness) == (True, "k3f9a", Soundness.SOUND)
    assert set(manifest.files) == {path.name for path in checkpoint.iterdir()} - {MANIFEST_NAME}
    assert (manifest.step, manifest.world_size, manifest.base_model) == (10, 1, "tiny")
    assert (manifest.data_position, manifest.random_states) == (FACTS.data_position, FACTS.random_states)


def test_the_times_of_the_folder_stay(checkpoint):
    """transformers deletes the oldest folder by them."""
    os.utime(checkpoint, (LONG_AGO, LONG_AGO))
    seal_checkpoint(checkpoint, FACTS)
    assert checkpoint.stat().st_mtime == LONG_AGO


def test_nothing_else_is_left(checkpoint):
    before = {path.name for path in checkpoint.iterdir()}
    seal_checkpoint(checkpoint, FACTS)
    assert {path.name for path in checkpoint.iterdir()} == before | {MANIFEST_NAME}


def test_an_unsound_one_is_not_sealed(checkpoint):
    (checkpoint / "optimizer.pt").unlink()
    age(checkpoint)
    assert seal_checkpoint(checkpoint, FACTS).soundness is Soundness.UNSOUND
    assert not (checkpoint / MANIFEST_NAME).exists()


@pytest.mark.parametrize("written", [{"optimizer.pt": 1}, {"gone.pt": 5}])
def test_what_the_ranks_wrote_has_to_be_there(checkpoint, written):
    assert seal_checkpoint(checkpoint, FACTS, files=written).soundness is not Soundness.SOUND
    assert read_manifest(checkpoint) is None


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "rng_state.pth", "trainer_state.json"])
def test_a_flipped_bit_anywhere_is_found(checkpoint, name):
    seal_checkpoint(checkpoint, FACTS)
    data = bytearray((checkpoint / name).read_bytes())
    data[-30] ^= 1
    (checkpoint / name).write_bytes(data)
    assert (Kind.CHANGED, name) in kinds(checkpoint)


def test_sealing_again_does_not_hide_what_changed(checkpoint):
    seal_checkpoint(checkpoint, FACTS)
    data = bytearray((checkpoint / "adapter_model.safetensors").read_bytes())
    data[-30] ^= 1
    (checkpoint / "adapter_model.safetensors").write_bytes(data)
    assert seal_checkpoint(checkpoint, FACTS).soundness is Soundness.UNSOUND


def test_files_beside_those_that_were_sealed_do_no_harm(checkpoint):
    seal_checkpoint(checkpoint, FACTS)
    (checkpoint / "notes.md").write_text("mine")
    assert verify_checkpoint(checkpoint).is_sealed


def test_a_lost_file_is_found(checkpoint):
    (checkpoint / "notes.md").write_text("mine")
    seal_checkpoint(checkpoint, FACTS)
    (checkpoint / "notes.md").unlink()
    assert kinds(checkpoint) == {(Kind.MISSING, "notes.md")}


def test_a_manifest_of_another_checkpoint_is_found(checkpoint, tmp_path):
    other = write_checkpoint(tmp_path / "checkpoint-20", step=20)
    seal_checkpoint(other, SaveFacts())
    shutil.copy(other / MANIFEST_NAME, checkpoint)
    assert (Kind.WRONG_STEP, MANIFEST_NAME) in kinds(checkpoint)


@pytest.mark.parametrize(
    "text", ["", "{", '{"version": 99, "files": {}}', '{"version": 1, "files": {"../x": {"size": 1, "blake3": ""}}}']
)
def test_a_damaged_manifest_is_found(checkpoint, text):
    (checkpoint / MANIFEST_NAME).write_text(text)
    assert (Kind.TORN, MANIFEST_NAME) in kinds(checkpoint)
    assert kinds(checkpoint, ignores_hashes=True) == set()


def test_it_travels_with_a_copy(checkpoint, tmp_path):
    seal_checkpoint(checkpoint, FACTS)
    shutil.copytree(checkpoint, tmp_path / "elsewhere" / "checkpoint-10")
    assert verify_checkpoint(tmp_path / "elsewhere" / "checkpoint-10").is_sealed
