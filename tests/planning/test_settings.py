"""Settings are read from a command as its launcher reads them, and a change is written where it belongs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.planning.settings import read_settings, write_settings
from laststep.records.command import Command
from laststep.records.settings import Setting

SWIFT = ("swift", "sft", "--model", "m", "--per_device_train_batch_size", "4", "--output_dir", "o")


def change(argv, values, environment=()):
    command = Command(tuple(argv), environment=dict(environment))
    before = read_settings(command)
    now = before.put(values)
    return write_settings(command, before, now) if now is not None else None


@pytest.mark.parametrize(
    ("argv", "setting", "value"),
    [
        (SWIFT, Setting.MICRO_BATCH, "4"),
        (("swift", "sft", "--per-device-train-batch-size=2"), Setting.MICRO_BATCH, "2"),
        (("swift", "sft", "--bf16", "--model", "m"), Setting.BFLOAT16, "true"),
        (("swift", "sft", "--max_length", "1", "--max_length", "2"), Setting.MAX_LENGTH, "2"),
        (("swift", "sft", "--model", "m"), Setting.CHECKPOINTING, "true"),
        (("torchrun", "--nproc_per_node=4", "train.py"), Setting.RANKS, "4"),
        (("python", "-m", "torch.distributed.run", "--nproc-per-node", "2", "t.py"), Setting.RANKS, "2"),
        (("accelerate", "launch", "--main_process_port", "1234", "t.py"), Setting.PORT, "1234"),
        (("llamafactory-cli", "train", "a.yaml", "cutoff_len=9"), Setting.MAX_LENGTH, "9"),
        (("llamafactory-cli", "train", "a.yaml"), Setting.MICRO_BATCH, None),
        (("axolotl", "train", "a.yml", "--micro-batch-size", "3"), Setting.MICRO_BATCH, "3"),
        (("python", "mine.py"), Setting.MICRO_BATCH, None),
    ],
)
def test_what_a_command_sets_is_read(argv, setting, value):
    assert read_settings(Command(argv)).values.get(setting) == value


def test_a_variable_of_the_launcher_is_a_setting():
    command = Command(SWIFT, environment={"NPROC_PER_NODE": "4"})

    assert read_settings(command).values[Setting.RANKS] == "4"
    assert change(SWIFT, {Setting.RANKS: "2"}, command.environment.items()).environment == {"NPROC_PER_NODE": "2"}


@pytest.mark.parametrize(
    ("argv", "values", "written"),
    [
        (SWIFT, {Setting.MICRO_BATCH: "2"}, (*SWIFT[:5], "2", *SWIFT[6:])),
        (SWIFT, {Setting.ACCUMULATION: "2"}, (*SWIFT, "--gradient_accumulation_steps", "2")),
        (("swift", "sft", "--bf16"), {Setting.BFLOAT16: "false"}, ("swift", "sft", "--bf16", "false")),
        (("swift", "sft", "--max-length=4"), {Setting.MAX_LENGTH: "2"}, ("swift", "sft", "--max-length=2")),
        (("swift", "sft", "--adapters", "a"), {Setting.ADAPTERS: None}, ("swift", "sft")),
        (("torchrun", "t.py", "--x"), {Setting.PORT: "7"}, ("torchrun", "--master_port", "7", "t.py", "--x")),
        (("llamafactory-cli", "train", "a.yaml"), {Setting.DROP_LAST: "true"},
         ("llamafactory-cli", "train", "a.yaml", "dataloader_drop_last=true")),
    ],
)  # fmt: skip
def test_a_change_is_written_where_it_belongs(argv, values, written):
    assert change(argv, values).argv == written


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        (("python", "mine.py"), {Setting.ACCUMULATION: "2"}),  # who knows what it makes of a flag
        (("torchrun", "mine.py", "--learning_rate", "1"), {Setting.ACCUMULATION: "2"}),
        (SWIFT, {Setting.MICRO_BATCH: "4"}),
        (SWIFT, {Setting.CHECKPOINTING: "True"}),
    ],
)
def test_what_nobody_knows_and_what_is_so_already_is_no_change(argv, values):
    assert change(argv, values) is None


WORDS = st.lists(st.sampled_from([*SWIFT, "--bf16", "=", "--max_length=3", "-", "--", "a b", ""]), max_size=12)


@given(WORDS, st.sampled_from([Setting.MICRO_BATCH, Setting.BFLOAT16, Setting.MAX_LENGTH]))
def test_what_is_written_is_read_again_and_nothing_else_is_touched(words, setting):
    command = Command(("swift", "sft", *words))
    before = read_settings(command)
    now = before.put({setting: "16"})

    after = read_settings(write_settings(command, before, now))

    assert after.values[setting] == "16"
    others = {name: value for name, value in before.values.items() if name is not setting}
    assert {name: value for name, value in after.values.items() if name is not setting} == others
