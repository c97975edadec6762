"""An output folder is judged by its checkpoints too."""

import pytest
from small_checkpoints import age, write_checkpoint  # found by conftest.py

from laststep.failures.catalog import UNKNOWN
from laststep.supervisor.diagnose_path import diagnose_path

LOG = "{'loss': 2.1, 'grad_norm': 1.1}\n 10%|#  | 10/100 [00:10<01:30,  1.00s/it]\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 9\n"


@pytest.fixture
def output(tmp_path):
    (tmp_path / "train.log").write_text(LOG)
    write_checkpoint(tmp_path / "checkpoint-10")
    return tmp_path


def test_a_sound_checkpoint_says_nothing(output):
    assert diagnose_path(output).verdict.cause == UNKNOWN


def test_a_torn_checkpoint_is_the_cause_and_its_file_is_named(output):
    file = max((output / "checkpoint-10").iterdir(), key=lambda path: path.stat().st_size)
    file.write_bytes(file.read_bytes()[:40])
    age(output / "checkpoint-10")
    verdict = diagnose_path(output).verdict

    assert verdict.cause == "checkpoint.torn"
    assert file.name in verdict.evidence[0].text


def test_a_pointer_in_the_place_of_a_file_is_told(output):
    file = next((output / "checkpoint-10").glob("*.safetensors"))
    file.write_text(POINTER)

    assert diagnose_path(output).verdict.cause == "checkpoint.lfs-pointer"
