import pytest

from laststep.planning.programs import find_programs


def found(text):
    return [(program.entry, program.begin) for program in find_programs(text.split())]


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("swift sft --model m", [("swift:sft", 2)]),
        ("/env/bin/python /env/bin/swift web_ui", [("swift:web-ui", 3)]),
        ("python /src/swift/cli/rlhf.py --model m", [("swift:rlhf", 2)]),
        ("torchrun --nproc_per_node 2 /src/swift/cli/sft.py --model m", [("torchrun", 1), ("swift:sft", 4)]),
        ("python -m torch.distributed.run train.py --model m", [("torchrun", 3)]),
        ("python -m swift.cli.pt --model m", [("swift:pt", 3)]),
        ("accelerate launch --num_processes 2 train.py", [("accelerate", 2)]),
        ("trl sft --model_name_or_path m", [("trl:sft", 2)]),
        ("llamafactory-cli train a.yaml lr=1", [("llamafactory:train", 3)]),
        ("python train.py --model swift", []),
        ("python train.py --data swift sft", []),
    ],
)
def test_programs_are_found_with_where_their_arguments_begin(text, programs):
    assert found(text) == programs


def test_a_file_of_settings_is_no_argument():
    (program,) = find_programs(["swift", "sft", "run.yaml", "--model", "m"])
    assert (program.config, program.begin) == ("run.yaml", 3)
