"""Each change changes what it is named after, keeps what it promises, and knows when there is nothing to do."""

import pytest

from laststep.failures.catalog import load_failures
from laststep.records.settings import Setting, Settings
from laststep.recovery.changes.catalog import BY_NAME, CHANGES
from laststep_guard.wire import REMEDY_CLASSES

ALL = frozenset(Setting)


def apply(name, values=(), environment=()):
    return BY_NAME[name].apply(Settings(dict(values), dict(environment), ALL))


@pytest.mark.parametrize(
    ("micro_batch", "accumulation", "smaller", "more"), [(4, 8, "2", "16"), (6, 1, "3", "2"), (3, 2, "1", "6")]
)
def test_half_a_micro_batch_keeps_the_effective_batch(micro_batch, accumulation, smaller, more):
    now = apply("halve_micro_batch", {Setting.MICRO_BATCH: str(micro_batch), Setting.ACCUMULATION: str(accumulation)})

    assert (now.values[Setting.MICRO_BATCH], now.values[Setting.ACCUMULATION]) == (smaller, more)
    assert int(smaller) * int(more) == micro_batch * accumulation


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("halve_micro_batch", {Setting.MICRO_BATCH: "1", Setting.ACCUMULATION: "8"}),
        ("halve_micro_batch", {Setting.MICRO_BATCH: "auto", Setting.ACCUMULATION: "8"}),
        ("shrink_loader", {Setting.LOADER_WORKERS: "0"}),
        ("fewer_dataset_workers", {Setting.DATASET_WORKERS: "1"}),
        ("keep_two_checkpoints", {Setting.CHECKPOINTS_KEPT: "1"}),
        ("longer_timeout", {Setting.TIMEOUT_SECONDS: "18000000"}),
        ("lower_learning_rate", {}),
        ("resume_by_flag", {Setting.ADAPTERS: "org/name"}),
        ("gradient_checkpointing", {Setting.CHECKPOINTING: "True"}),
        ("ranks_as_devices", {Setting.RANKS: "4"}),
    ],
)
def test_where_there_is_nothing_to_do_it_does_nothing(name, values):
    assert apply(name, values) is None


def test_a_loader_of_one_worker_becomes_none():
    now = apply("shrink_loader", {Setting.LOADER_WORKERS: "1", Setting.PREFETCH: "4"})

    assert (now.values[Setting.LOADER_WORKERS], now.values[Setting.PREFETCH]) == ("0", None)


def test_options_of_the_allocator_that_are_there_stay():
    now = apply("expandable_segments", environment={"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128"})

    assert now.environment["PYTORCH_CUDA_ALLOC_CONF"] == "max_split_size_mb:128,expandable_segments:True"


def test_a_port_stays_below_those_that_the_kernel_hands_out():
    assert apply("free_port", {Setting.PORT: "29500"}).values[Setting.PORT] == "29617"
    assert int(apply("free_port", {Setting.PORT: "32700"}).values[Setting.PORT]) < 32700


def test_a_checkpoint_that_was_given_as_an_adapter_is_resumed_from():
    now = apply("resume_by_flag", {Setting.ADAPTERS: "out/checkpoint-400"})

    assert (now.values[Setting.RESUME_FROM], now.values[Setting.ADAPTERS]) == ("out/checkpoint-400", None)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_once_made_a_constant_change_is_not_made_again(change):
    """Else a run would be started anew with what it was started with."""
    relative = {"free_port", "halve_micro_batch", "halve_length", "double_length", "shrink_loader", "save_often",
                "fewer_dataset_workers", "lower_learning_rate"}  # fmt: skip
    now = change.apply(Settings({}, {"CUDA_VISIBLE_DEVICES": "0,1"}, ALL))

    assert now is None or change.name in relative or change.apply(now) is None


def test_causes_name_changes_that_exist_and_promise_no_more_than_they_keep():
    for failure in load_failures().values():
        for remedy in failure.remedy:
            if remedy.change is not None:
                kept = BY_NAME[remedy.change].remedy_class
                assert REMEDY_CLASSES.index(kept) <= REMEDY_CLASSES.index(remedy.remedy_class), failure.id
    assert {remedy.change for failure in load_failures().values() for remedy in failure.remedy} >= set(BY_NAME)
