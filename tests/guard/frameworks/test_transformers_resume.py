"""A script without a resume flag goes on from the checkpoint that laststep chose, and from no other."""

from types import SimpleNamespace

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.frameworks.transformers_resume import hook_resume
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


class Trainer:
    """Remembers what it was told."""

    def __init__(self, output_dir):
        self.args = SimpleNamespace(output_dir=str(output_dir))

    def train(self, resume_from_checkpoint=None, trial=None):
        return resume_from_checkpoint, trial


@pytest.fixture
def hook():
    """Hook a trainer class of its own."""

    def hook(checkpoint):
        emitter = Emitter(None, None)
        guardian = Guardian(Settings("test", resume_from=checkpoint), emitter, Shield(emitter.emit), None)
        hooked = type("Trainer", (Trainer,), {"train": Trainer.train})
        hook_resume(SimpleNamespace(Trainer=hooked), guardian)
        return hooked

    return hook


@pytest.mark.parametrize("asked_for", [None, False, True])
def test_a_script_that_names_no_checkpoint_gets_ours(hook, tmp_path, asked_for):
    """True would have taken whatever looks newest, torn or not."""
    checkpoint = str(tmp_path / "checkpoint-5")

    assert hook(checkpoint)(tmp_path).train(asked_for, trial=1) == (checkpoint, 1)


def test_a_script_that_names_one_keeps_it(hook, tmp_path):
    trainer = hook(str(tmp_path / "checkpoint-5"))(tmp_path)

    assert trainer.train(resume_from_checkpoint="other") == ("other", None)


def test_a_trainer_of_another_folder_is_left_alone(hook, tmp_path):
    trainer = hook(str(tmp_path / "checkpoint-5"))(tmp_path / "second")

    assert trainer.train() == (None, None)


def test_without_a_checkpoint_nothing_is_patched(hook, tmp_path):
    assert hook(None)(tmp_path).train(True) == (True, None)
