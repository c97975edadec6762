"""A command goes on from a checkpoint with everything else as it was typed."""

from laststep.planning.write_command import find_dialect, list_differences, write_resume
from laststep.records.command import Command

SWIFT = ("swift", "sft", "--model", "m", "--output_dir", "out", "--target_modules", "q", "v")


def resume(*argv):
    return write_resume(Command(argv), "/o/v0-1/checkpoint-5").argv


def test_swift_goes_on_in_the_folder_of_its_checkpoint():
    assert resume(*SWIFT) == (
        *("swift", "sft", "--model", "m", "--target_modules", "q", "v"),
        *("--output_dir", "/o/v0-1", "--add_version", "false", "--resume_from_checkpoint", "/o/v0-1/checkpoint-5"),
    )


def test_what_said_where_to_go_on_before_is_replaced():
    first = resume(*SWIFT)

    assert resume(*first) == first


def test_a_flag_with_an_equals_sign_is_replaced_as_well():
    assert resume("swift", "sft", "--output_dir=out", "--model=m")[:3] == ("swift", "sft", "--model=m")


def test_llamafactory_gets_a_key_beside_its_file_and_a_flag_without_one():
    assert resume("llamafactory-cli", "train", "x.yaml")[-1] == "resume_from_checkpoint=/o/v0-1/checkpoint-5"
    flags = ("--resume_from_checkpoint", "/o/v0-1/checkpoint-5")
    assert resume("llamafactory-cli", "train", "--stage", "sft")[-2:] == flags


def test_axolotl_gets_its_option():
    assert resume("axolotl", "train", "c.yml")[-2:] == ("--resume-from-checkpoint", "/o/v0-1/checkpoint-5")


def test_a_script_of_the_users_own_stays_as_it_is():
    argv = ("torchrun", "--nproc_per_node", "2", "train.py", "--lr", "1")

    assert find_dialect(argv).name == "plain"
    assert resume(*argv) == argv


def test_the_order_of_flags_and_where_to_go_on_make_no_difference():
    before = ("swift", "sft", "--a", "1", "--b", "2", "--output_dir", "x")

    assert list_differences(before, ("swift", "sft", "--b", "2", "--a=1", "--resume_from_checkpoint", "c")) == ()


def test_a_changed_added_or_removed_flag_is_named():
    before = ("swift", "sft", "--dataset", "a.json", "b.json", "--seed", "1")
    now = ("swift", "sft", "--dataset", "c.json", "--packing")

    assert list_differences(before, now) == (
        ("--dataset a.json b.json", "--dataset c.json"),
        ("--seed 1", None),
        (None, "--packing"),
    )


def test_a_negative_number_is_a_value():
    assert list_differences(("swift", "--a", "-1"), ("swift", "--a", "-2")) == (("--a -1", "--a -2"),)
