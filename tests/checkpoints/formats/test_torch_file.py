"""A file of torch.save is whole or it is said not to be."""

import pytest
from small_checkpoints import dump, floats, optimiser, tensor, torch_archive

from laststep.checkpoints.formats import torch_file
from laststep.checkpoints.formats.look import Look


def read(path, data, **options):
    path.write_bytes(data)
    return torch_file.read(Look(path=path, name=path.name, size=len(data), **options))


@pytest.mark.parametrize(
    "whole",
    [
        optimiser(),
        torch_archive(dump({"cpu": tensor("0", 16, "ByteStorage")}), {"0": bytes(range(16))}),
        torch_archive(dump({"last_epoch": 3, "base_lrs": [0.1, 0.2]}), {}),
    ],
)
def test_every_flipped_bit_of_an_archive_is_found(tmp_path, whole):
    """The checksum covers the data; every other byte has to be what the format says."""
    assert not read(tmp_path / "whole.pt", whole).problems
    unseen = [
        at
        for at in range(len(whole))
        for bit in (0, 4, 7)
        if not read(tmp_path / "x.pt", whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]).problems
    ]
    assert not unseen


def test_the_step_of_an_optimiser_is_read_without_loading_it(tmp_path):
    assert read(tmp_path / "optimizer.pt", optimiser(step=77)).value["state"][0]["step"] == 77.0


def test_a_storage_that_is_shorter_than_its_tensor_is_found(tmp_path):
    data = torch_archive(dump({"a": tensor("0", 4)}), {"0": floats(1, 2, 3)})
    assert read(tmp_path / "a.pt", data).problems


def test_what_lies_in_a_storage_beside_its_tensors_is_not_judged(tmp_path):
    """A flat buffer may end in memory that nobody wrote."""
    data = torch_archive(
        dump({"a": tensor("0", 2)}).replace(b"J\x02\x00\x00\x00t", b"J\x03\x00\x00\x00t"),
        {"0": floats(1, 2, float("nan"))},
    )
    assert not read(tmp_path / "a.pt", data, is_deep=True).problems
