import pytest

from laststep.planning.correct_arguments import correct_arguments
from laststep.planning.judge_arguments import judge_arguments
from laststep.records.arguments import AcceptedArguments, Argument, ArgumentFault, ValueKind
from laststep.records.command import Command


def argument(*names, **options):
    return Argument(names=names, **options)


ACCEPTED = AcceptedArguments(
    framework="ms-swift",
    version="4.6.0",
    arguments=(
        argument("--model"),
        argument("--tuner_type", "--tuner-type"),
        argument("--attn_impl", "--attn-impl"),
        argument("--torch_dtype", "--torch-dtype", choices=("bfloat16", "float16", "float32", "None")),
        argument("--dataset", least=1, most=None),
        argument("--dataset_num_proc", kind=ValueKind.WHOLE),
        argument("--learning_rate", "--learning-rate", kind=ValueKind.NUMBER),
        argument("--streaming", least=0, kind=ValueKind.BOOLEAN),
        argument("--no_streaming", least=0, most=0),
        argument("--use_cpu", least=0, kind=ValueKind.BOOLEAN),
    ),
)
BEGIN = ["swift", "sft"]


def judge(*words):
    return judge_arguments([*BEGIN, *words], ACCEPTED, begin=2)


def correct(*words):
    command = correct_arguments(Command((*BEGIN, *words)), judge(*words))
    return list(command.argv[2:]), dict(command.environment)


@pytest.mark.parametrize(
    "words",
    [
        ["--model", "m", "--dataset", "a.json", "b.json#500", "--streaming"],
        ["--model=m", "--learning-rate", "1e-5", "--streaming", "true"],
        ["--learning_rate", "-1e-5"],
        ["--tuner", "lora"],
        ["--model", "", "--no_streaming"],
        ["--torch_dtype", "bfloat16"],
    ],
)
def test_what_argparse_accepts_is_accepted(words):
    """Beginnings of names, several values, values left out, negative numbers: none of them is a problem."""
    assert judge(*words) == ()


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["--train_type", "lora"], ["--tuner_type", "lora"]),
        (["--sft_type", "full"], ["--tuner_type", "full"]),
        (["--model_id_or_path", "m"], ["--model", "m"]),
        (["--flash_attn", "true"], ["--attn_impl", "flash_attn"]),
        (["--use_flash_attn", "true"], ["--attn_impl", "flash_attn"]),
        (["--num_proc", "2"], ["--dataset_num_proc", "2"]),
        (["--dtype", "fp16"], ["--torch_dtype", "float16"]),
        (["--no_cuda", "true"], ["--use_cpu", "true"]),
    ],
)
def test_a_renamed_argument_is_written_by_its_name(words, instead):
    (problem,) = judge(*words)
    assert problem.fault is ArgumentFault.RENAMED
    assert correct(*words)[0] == instead


def test_a_removed_argument_is_left_out_and_the_reason_told():
    (problem,) = judge("--check_dataset_strategy", "warning")
    assert problem.fault is ArgumentFault.REMOVED
    assert "skipped by default" in problem.reason.en
    assert correct("--model", "m", "--check_dataset_strategy", "warning")[0] == ["--model", "m"]


def test_the_number_of_ranks_becomes_a_variable():
    assert correct("--nproc_per_node", "2", "--model", "m") == (["--model", "m"], {"NPROC_PER_NODE": "2"})


def test_a_wrong_value_is_told_with_those_it_may_have():
    (problem,) = judge("--torch_dtype", "fp16")
    assert problem.fault is ArgumentFault.WRONG_VALUE
    assert problem.accepted == "bfloat16 | float16 | float32 | None"
    assert correct("--torch_dtype=fp16")[0] == ["--torch_dtype", "float16"]


@pytest.mark.parametrize(
    "words", [["--dataset_num_proc", "two"], ["--learning_rate", "fast"], ["--streaming", "perhaps"]]
)
def test_a_value_of_another_kind_is_told_and_left_alone(words):
    (problem,) = judge(*words)
    assert problem.instead is None
    assert correct(*words)[0] == words


def test_a_missing_value_is_told():
    (problem,) = judge("--model", "--streaming")
    assert problem.typed == "--model"


def test_a_misspelt_argument_is_guessed_at_and_not_changed():
    (problem,) = judge("--learing_rate", "1e-4")
    assert problem.is_guess
    assert problem.instead == ("--learning_rate", "1e-4")
    assert correct("--learing_rate", "1e-4")[0] == ["--learing_rate", "1e-4"]


def test_a_word_without_a_name_is_told():
    """A backslash with a blank behind it leaves such words in a pasted command."""
    (problem,) = judge("--model", "m", "stray")
    assert problem.typed == "stray"
    assert problem.instead is None


def test_what_is_there_by_its_right_name_is_not_written_twice():
    assert correct("--train_type", "full", "--tuner_type", "lora")[0] == ["--tuner_type", "lora"]


def test_the_arguments_of_a_script_are_not_those_of_its_launcher():
    argv = ["torchrun", "--nproc_per_node", "2", "train.py", "--anything"]
    accepted = AcceptedArguments(framework="torch", version="2", arguments=(argument("--nproc_per_node"),))
    assert judge_arguments(argv, accepted, begin=1, ends_at_script=True) == ()
