"""The shards of a model and their index agree, or it is said where they do not."""

import json
import struct

import pytest
from small_checkpoints import age, write_checkpoint

from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import ProblemKind as Kind

INDEX = "model.safetensors.index.json"
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def shard(**shapes):
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * shape[1]
        header[name.replace("__", ".")] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"\x01" * at


@pytest.fixture
def sharded(tmp_path):
    folder = write_checkpoint(tmp_path / "checkpoint-10")
    for path in folder.glob("adapter*"):
        path.unlink()
    (folder / SHARDS[0]).write_bytes(shard(embed_tokens__weight=[8, 4], layer0__weight=[4, 4]))
    (folder / SHARDS[1]).write_bytes(shard(layer1__weight=[4, 4]))
    placed = {"embed_tokens.weight": SHARDS[0], "layer0.weight": SHARDS[0], "layer1.weight": SHARDS[1]}
    (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": 256}, "weight_map": placed}))
    (folder / "config.json").write_text(json.dumps({"vocab_size": 8, "hidden_size": 4}))
    age(folder)
    return folder


def kinds(checkpoint):
    return {(problem.kind, problem.file) for problem in verify_checkpoint(checkpoint).problems}


def change_index(folder, change):
    value = json.loads((folder / INDEX).read_text())
    change(value)
    (folder / INDEX).write_text(json.dumps(value))


def test_a_whole_one_is_sound(sharded):
    assert kinds(sharded) == set()


@pytest.mark.parametrize("name", [INDEX, *SHARDS, "config.json"])
def test_what_is_missing_is_named(sharded, name):
    (sharded / name).unlink()
    assert (Kind.MISSING, name) in kinds(sharded)


def test_shards_in_each_others_place_are_found(sharded):
    first, second = (sharded / name for name in SHARDS)
    data = first.read_bytes(), second.read_bytes()
    first.write_bytes(data[1])
    second.write_bytes(data[0])
    assert (Kind.STALE_POINTER, INDEX) in kinds(sharded)


def test_an_index_that_names_what_is_not_there_is_found(sharded):
    change_index(sharded, lambda value: value["weight_map"].update({"layer2.weight": SHARDS[1]}))
    assert (Kind.STALE_POINTER, INDEX) in kinds(sharded)


def test_a_total_that_does_not_add_up_is_found(sharded):
    change_index(sharded, lambda value: value["metadata"].update(total_size=255))
    assert (Kind.TORN, INDEX) in kinds(sharded)


def test_an_embedding_of_another_size_than_the_configuration_is_found(sharded):
    (sharded / "config.json").write_text(json.dumps({"vocab_size": 9, "hidden_size": 4}))
    assert (Kind.WRONG_SHAPE, SHARDS[0]) in kinds(sharded)


def test_a_module_that_is_no_model_of_transformers_needs_no_configuration(sharded):
    for name in (INDEX, SHARDS[1], "config.json"):
        (sharded / name).unlink()
    (sharded / SHARDS[0]).rename(sharded / "model.safetensors")
    assert kinds(sharded) == set()
