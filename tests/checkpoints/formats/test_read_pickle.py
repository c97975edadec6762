"""A pickle that would run something is reported, and runs nothing."""

import contextlib
import io
import os
import pickle
import random
import struct
import subprocess
from pathlib import Path

import pytest
from small_checkpoints import Raw, age, dump, floats, tensor, torch_archive

from laststep.checkpoints.formats.read_pickle import PickleError, read_pickle
from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import ProblemKind, Soundness

MAGIC = 0x1950A86A20F9469CFC6C
TRAP = "trap-has-sprung"
SHELL = f"touch {TRAP}"


class Evil:
    def __reduce__(self):
        return os.system, (SHELL,)


class EvilList(list):
    def __reduce__(self):
        return eval, (f"__import__('os').system({SHELL!r})",)


class EvilProcess:
    def __reduce__(self):
        return subprocess.Popen, (["touch", TRAP],)


COMMAND = b"X" + struct.pack("<I", len(SHELL)) + SHELL.encode()
# Each of these runs the command when loaded.
SPRINGING = {
    **{f"reduce in protocol {protocol}": pickle.dumps(Evil(), protocol) for protocol in range(6)},
    "eval": pickle.dumps(EvilList(), 2),
    "a process": pickle.dumps(EvilProcess(), 4),
    "in a dictionary": pickle.dumps({"state": {0: {"step": 3, "x": [Evil()]}}}, 2),
    "INST": b"(" + COMMAND + b"iposix\nsystem\n.",
    "OBJ": b"(cposix\nsystem\n" + COMMAND + b"o.",
    "names out of the memo": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x9400h\x00h\x01\x93" + COMMAND + b"\x85R.",
    "a name put twice": b"\x80\x02cposix\nsystem\nq\x01cposix\nsystem\nq\x000h\x00" + COMMAND + b"\x85R.",
    "the result thrown away": b"\x80\x02cposix\nsystem\n" + COMMAND + b"\x85R0}.",
    "dropped with a mark": b"\x80\x02}(cposix\nsystem\n" + COMMAND + b"\x85R1.",
    "getattr": b"\x80\x02cbuiltins\ngetattr\nc__builtin__\n__import__\nX\x02\0\0\0os\x85RX\x06\0\0\0system\x86R"
    + COMMAND + b"\x85R.",
    "a nested name": b"\x80\x04\x8c\x02os\x8c\x06system\x93" + COMMAND + b"\x85R.",
    "nested in a call": pickle.dumps([pickle.dumps(1), Evil()], 4),
}  # fmt: skip
# These need more of torch or of a library than is here, or only change something.
OTHER = {
    "a pickle for torch to load": dump([Raw(
        b"ctorch.storage\n_load_from_bytes\nB" + struct.pack("<I", len(pickle.dumps(Evil(), 2)))
        + pickle.dumps(Evil(), 2) + b"\x85R")]),
    "an archive for torch to load": dump([Raw(
        b"ctorch.storage\n_load_from_bytes\nB"
        + struct.pack("<I", len(torch_archive(pickle.dumps(Evil(), 2), {})))
        + torch_archive(pickle.dumps(Evil(), 2), {}) + b"\x85R")]),
    "the loader handed on": dump([Raw(
        b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.storage\n_load_from_bytes\nctorch\nTensor\nC\x01x\x85NtR")]),
    "the loader in a list": dump([Raw(b"ctorch.storage\n_load_from_bytes\n")]),
    "a change of a class": b"\x80\x02ccollections\nOrderedDict\n(N}X\x03\0\0\0fooK\x01stb.",
    "a change of a class by dictionary": b"\x80\x02ccollections\nOrderedDict\n}X\x03\0\0\0fooK\x01sb.",
    "an extension": b"\x80\x02\x82\x01.",
    "NEWOBJ of a process": b"\x80\x02csubprocess\nPopen\n)\x81.",
    "NEWOBJ with names": b"\x80\x04\x8c\x0asubprocess\x8c\x05Popen\x93)}\x92.",
    "NEWOBJ of a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)\x81.",
    "a call of a result": b"\x80\x02ccollections\nOrderedDict\n)R)R.",
    "a name never called": b"\x80\x02cposix\nsystem\n.",
    "in a persistent id": b"\x80\x02cposix\nsystem\n" + COMMAND + b"\x85RQ.",
    "a codec": b"\x80\x02c_codecs\nencode\nX\x01\0\0\0aX\x03\0\0\0zip\x86R.",
    "torch.hub": b"\x80\x02ctorch.hub\nload\n(X\x01\0\0\0aX\x01\0\0\0btR.",
    "runpy": b"\x80\x02crunpy\nrun_path\nX\x01\0\0\0a\x85R.",
    "operator": b"\x80\x02coperator\nattrgetter\nX\x06\0\0\0system\x85R.",
    "functools": b"\x80\x02cfunctools\npartial\ncposix\nsystem\n\x85R.",
    "a stranger's class": b"\x80\x02cparamiko.proxy\nProxyCommand\nX\x01\0\0\0a\x85R.",
    "importlib": b"\x80\x02cimportlib\nimport_module\nX\x02\0\0\0os\x85R.",
    "a function of a trusted module": b"\x80\x02ctransformers.trainer_utils\nset_seed\nK\x01\x85R.",
    "a name that is no text": b"\x80\x04K\x01K\x02\x93.",
}  # fmt: skip


def before_torch_1_6(pickled, keys=b"\x80\x02]."):
    return b"".join([pickle.dumps(MAGIC, 2), pickle.dumps(1001, 2), pickle.dumps({}, 2), pickled, keys])


FORMS = {
    "archive": lambda pickled: torch_archive(pickled, {}),
    "before torch 1.6": before_torch_1_6,
    "in the keys before torch 1.6": lambda pickled: before_torch_1_6(b"\x80\x02}.", pickled),
    "bare": lambda pickled: pickled,
    "a pickle before an archive": lambda pickled: pickled + torch_archive(b"\x80\x02}.", {}),
    "a second pickle of an archive": lambda pickled: torch_archive(b"\x80\x02}.", {"x.pkl": pickled}),
}


@pytest.mark.parametrize("name", SPRINGING)
def test_the_traps_do_spring_when_loaded(name, tmp_path, monkeypatch):
    """Otherwise the next test would prove nothing."""
    monkeypatch.chdir(tmp_path)
    loaded = pickle.loads(SPRINGING[name])  # noqa: S301  # that is the point
    if isinstance(loaded, subprocess.Popen):
        loaded.wait()
    assert Path(TRAP).exists()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*SPRINGING, *OTHER])
@pytest.mark.parametrize("file", ["optimizer.pt"])
def test_what_would_run_something_is_reported_and_does_not_run(checkpoint, monkeypatch, file, name, form):
    monkeypatch.chdir(checkpoint)
    (checkpoint / file).write_bytes(FORMS[form]({**SPRINGING, **OTHER}[name]))
    age(checkpoint)

    checked = verify_checkpoint(checkpoint, is_deep=True)

    assert (ProblemKind.MALICIOUS, file) in {(problem.kind, problem.file) for problem in checked.problems}
    assert checked.soundness is Soundness.UNSOUND
    assert not Path(TRAP).exists()


@pytest.mark.parametrize(
    "file", ["rng_state.pth", "training_args.bin", "scheduler.pt", "adapter_model.bin", "more/x.pkl"]
)
def test_it_is_found_in_every_file(checkpoint, file):
    (checkpoint / file).parent.mkdir(exist_ok=True)
    (checkpoint / file).write_bytes(torch_archive(SPRINGING["reduce in protocol 2"], {}))
    assert ProblemKind.MALICIOUS in {problem.kind for problem in verify_checkpoint(checkpoint).problems}


def test_arguments_of_a_users_own_class_are_harmless(checkpoint):
    """A script often has a class of its own for its arguments; building it runs nothing."""
    own = b"\x80\x02c__main__\nMyArguments\n)\x81}X\x01\0\0\0aK\x01sb."
    (checkpoint / "training_args.bin").write_bytes(torch_archive(own, {}))
    age(checkpoint)
    assert verify_checkpoint(checkpoint).problems == ()


@pytest.mark.parametrize("data", [b"", b".", b"\x80\x02", b"\x80\x02h\x05.", b"\x80\x02(t", b"\x80\x02}]s."])
def test_what_no_machine_can_run_is_an_error(data):
    with pytest.raises(PickleError):
        read_pickle(io.BytesIO(data))


def test_plain_values_come_out_as_they_went_in():
    value = {"a": [1, 2.5, None, True, "x", b"y", (1, 2), {3}], "b": {"c": -(1 << 70)}}
    for protocol in range(2, 6):
        read = read_pickle(io.BytesIO(pickle.dumps({**value, "a": value["a"][:-1]}, protocol)))
        assert not read.dangers
        assert read.value["b"] == value["b"]


def test_a_pickle_with_a_tensor_is_harmless():
    assert not read_pickle(io.BytesIO(dump({"w": tensor("0", 2)}))).dangers
    assert floats(1.0) == b"\0\0\x80?"


def test_settings_called_with_arguments_are_no_settings(checkpoint):
    """ms-swift's arguments would run the plug-ins that they name."""
    call = b"\x80\x02cswift.trainers.arguments\nTrainingArguments\n(X\x01\0\0\0aX\x01\0\0\0btR."
    (checkpoint / "training_args.bin").write_bytes(torch_archive(call, {}))
    assert ProblemKind.MALICIOUS in {problem.kind for problem in verify_checkpoint(checkpoint).problems}


def test_no_damage_to_a_pickle_ends_in_anything_but_an_answer():
    whole = dump({"state": {0: {"step": tensor("0", 1)}}, "names": ["a", "b"], "x": {1, 2}, "y": (1.5, -3)})
    choices = random.Random(1)
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(choices.choice([1, 2, 9])):
            data[choices.randrange(len(data))] = choices.randrange(256)
        with contextlib.suppress(PickleError):
            read_pickle(io.BytesIO(data))
