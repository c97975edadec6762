"""A file that cannot be written ends at that file, during a save and only then."""

import errno
import json
from types import SimpleNamespace

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.frameworks.torch_saves import hook_deepspeed_files, hook_deepspeed_folders, hook_save
from laststep_guard.guardian import Guardian, Save
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield
from laststep_guard.wire import INCOMPLETE_MARKER

FULL = OSError(errno.ENOSPC, "No space left on device")
DEVICE_THAT_IS_FULL = "/dev/full"


@pytest.fixture
def guardian(tmp_path):
    emitter = Emitter(None, 0)
    guardian = Guardian(Settings("test"), emitter, Shield(emitter.emit), 0)
    checkpoint = tmp_path / "checkpoint-3"
    checkpoint.mkdir()
    guardian.state.save, guardian.state.is_saving = Save(str(checkpoint), 3), True
    return guardian


def fail(error):
    def save(*_args, **_kwargs):
        raise error

    return save


def test_torchs_save_is_forgiven_and_the_checkpoint_marked(guardian, tmp_path):
    module = SimpleNamespace(save=fail(FULL))
    hook_save(module, guardian)

    assert module.save({}, tmp_path / "checkpoint-3" / "optimizer.pt") is None
    assert guardian.state.save.has_failed
    assert guardian.state.save.failed_file == str(tmp_path / "checkpoint-3" / "optimizer.pt")
    assert "No space left" in (tmp_path / "checkpoint-3" / INCOMPLETE_MARKER).read_text()


def test_outside_a_save_it_is_not(guardian):
    guardian.state.is_saving = False
    module = SimpleNamespace(save=fail(FULL))
    hook_save(module, guardian)

    with pytest.raises(OSError, match="No space"):
        module.save({}, "optimizer.pt")


@pytest.mark.parametrize("error", [ValueError("bad"), AttributeError("no pickle"), PermissionError(errno.EACCES, "no")])
def test_another_error_ends_the_save_as_ever(guardian, error):
    module = SimpleNamespace(save=fail(error))
    hook_save(module, guardian)

    with pytest.raises(type(error)):
        module.save({}, "optimizer.pt")
    assert not guardian.state.save.has_failed


def test_what_follows_from_a_failed_write_is_forgiven_as_well(guardian):
    """A folder that could not be made, and then the file that should have gone into it."""

    class CheckpointEngine:
        makedirs = fail(FULL)

    torch, engine = SimpleNamespace(save=fail(RuntimeError("Parent directory does not exist."))), CheckpointEngine()
    hook_deepspeed_folders(SimpleNamespace(CheckpointEngine=CheckpointEngine), guardian)
    hook_save(torch, guardian)

    engine.makedirs("global_step3", exist_ok=True)
    torch.save({}, "global_step3/mp_rank_00_model_states.pt")

    assert guardian.state.save.failed_file == "global_step3"


def hooked_engine(guardian):
    class DeepSpeedEngine:
        def _copy_recovery_script(self, save_path):
            raise FULL

    module = SimpleNamespace(DeepSpeedEngine=DeepSpeedEngine)
    hook_deepspeed_files(module, guardian)
    return module


def test_deepspeeds_script_and_its_latest_are_forgiven(guardian):
    module = hooked_engine(guardian)
    module.DeepSpeedEngine()._copy_recovery_script("out")
    assert guardian.state.save.failed_file == "out"

    guardian.state.save.reason = None
    with module.open(DEVICE_THAT_IS_FULL, "w") as file:  # it takes the text, and says at the end that it is full
        file.write("global_step3")
    assert guardian.state.save.has_failed

    guardian.state.save.reason = None
    with pytest.raises(FileNotFoundError):
        module.open("/nowhere/latest", "w")


def test_deepspeeds_files_are_written_as_ever_when_there_is_room(guardian, tmp_path):
    module = hooked_engine(guardian)
    for is_saving in (True, False):
        guardian.state.is_saving = is_saving
        with module.open(tmp_path / "latest", "w") as file:
            file.write(json.dumps(is_saving))
            assert str(file.name) == str(tmp_path / "latest")
        assert (tmp_path / "latest").read_text() == json.dumps(is_saving)
        with module.open(tmp_path / "latest") as file:
            assert file.read() == json.dumps(is_saving)
    assert not guardian.state.save.has_failed


def test_without_the_guard_nothing_is_hooked():
    emitter = Emitter(None, 0)
    guardian = Guardian(Settings("test", guards_off=("save",)), emitter, Shield(emitter.emit), 0)
    module = SimpleNamespace(save=len)
    hook_save(module, guardian)
    hook_deepspeed_files(module, guardian)
    hook_deepspeed_folders(module, guardian)

    assert vars(module) == {"save": len}
