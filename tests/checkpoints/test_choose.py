"""A run goes on from the newest sound checkpoint, and what is skipped is told."""

from small_checkpoints import age, write_checkpoint

from laststep.checkpoints.choose import choose_checkpoint
from laststep.checkpoints.manifest import seal_checkpoint
from laststep.records.checkpoint import SaveFacts


def make(folder, *steps):
    return {step: write_checkpoint(folder / f"checkpoint-{step}", step=step) for step in steps}


def test_the_newest_sound_one_is_chosen(tmp_path):
    made = make(tmp_path, 5, 10, 15)
    (made[15] / "optimizer.pt").unlink()
    age(tmp_path)

    choice = choose_checkpoint(tmp_path)

    assert (choice.chosen.step, [one.step for one in choice.skipped], choice.lost_steps) == (10, [15], 5)


def test_nothing_sound_is_no_choice(tmp_path):
    (make(tmp_path, 5)[5] / "optimizer.pt").write_bytes(b"")
    age(tmp_path)
    choice = choose_checkpoint(tmp_path)
    assert (choice.chosen, choice.lost_steps) == (None, 5)


def test_nothing_at_all_is_no_choice(tmp_path):
    assert choose_checkpoint(tmp_path).lost_steps == 0


def test_another_runs_higher_steps_are_left_alone(tmp_path):
    made = make(tmp_path, 5, 50)
    seal_checkpoint(made[50], SaveFacts(run_id="earlier"))
    seal_checkpoint(made[5], SaveFacts(run_id="this"))

    choice = choose_checkpoint(tmp_path, run_id="this")

    assert (choice.chosen.step, [one.step for one in choice.of_other_runs], choice.lost_steps) == (5, [50], 0)


def test_one_that_is_gone_meanwhile_is_passed_over(tmp_path):
    made = make(tmp_path, 5)
    assert choose_checkpoint([tmp_path / "checkpoint-9", made[5]]).chosen.step == 5
