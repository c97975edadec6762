"""What DeepSpeed wrote is whole, of one step and of one size of the world, or it is said what is not."""

import pytest
from small_checkpoints import age, dump, floats, tensor, torch_archive, write_checkpoint

from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import ProblemKind as Kind

TAG = "global_step10"


@pytest.fixture
def zero2(tmp_path):
    """A checkpoint of two ranks under ZeRO-2."""
    return write_zero2(tmp_path / "checkpoint-10")


def write_zero2(folder, step=10):
    write_checkpoint(folder, step=step, ranks=2)
    (folder / "optimizer.pt").unlink()
    (folder / f"global_step{step}").mkdir()
    for name, data in parts(step).items():
        (folder / f"global_step{step}" / name).write_bytes(data)
    (folder / "latest").write_text(f"global_step{step}")
    (folder / "zero_to_fp32.py").write_text("pass")
    age(folder)
    return folder


def parts(step):
    model = {"module": {}, "optimizer": None, "global_steps": step, "skipped_steps": 0, "dp_world_size": 2}
    state = {"optimizer_state_dict": {"base_optimizer_state": {"state": {0: {"step": tensor("0", 1)}}}}}
    shard = torch_archive(dump(state), {"0": floats(step)})
    names = [f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt" for rank in range(2)]
    return {"mp_rank_00_model_states.pt": torch_archive(dump(model), {}), **dict.fromkeys(names, shard)}


def kinds(checkpoint):
    return {(problem.kind, problem.file) for problem in verify_checkpoint(checkpoint).problems}


def test_a_whole_one_is_sound(zero2):
    assert kinds(zero2) == set()


@pytest.mark.parametrize("name", [*(f"{TAG}/{name}" for name in parts(10)), "latest", "zero_to_fp32.py"])
def test_what_is_missing_is_named(zero2, name):
    (zero2 / name).unlink()
    assert (Kind.MISSING, name) in kinds(zero2)


@pytest.mark.parametrize("tag", ["global_step5", "", "\n", "x" * 5000, "../other"])
def test_a_stale_pointer_is_found(zero2, tag):
    (zero2 / "latest").write_text(tag)
    assert (Kind.STALE_POINTER, "latest") in kinds(zero2)


def test_a_pointer_to_an_older_folder_is_stale(zero2, tmp_path):
    """It loads, and is of another step."""
    older = write_zero2(tmp_path / "older" / "checkpoint-5", step=5)
    (older / "global_step5").rename(zero2 / "global_step5")
    (zero2 / "latest").write_text("global_step5")
    assert (Kind.STALE_POINTER, "latest") in kinds(zero2)


@pytest.mark.parametrize("name", parts(10))
def test_a_part_of_another_step_is_found(zero2, name):
    (zero2 / TAG / name).write_bytes(parts(5)[name])
    assert (Kind.WRONG_STEP, f"{TAG}/{name}") in kinds(zero2)


def test_a_part_of_a_rank_that_is_none_is_found(zero2):
    shard = zero2 / TAG / "zero_pp_rank_1_mp_rank_00_optim_states.pt"
    shard.with_name("zero_pp_rank_2_mp_rank_00_optim_states.pt").write_bytes(shard.read_bytes())
    assert (Kind.WRONG_WORLD_SIZE, TAG) in kinds(zero2)
