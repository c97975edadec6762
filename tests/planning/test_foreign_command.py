"""A command that was run elsewhere is found in a text, and given back as text that a shell reads alike."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.planning.foreign_command import read_foreign_command, write_text
from laststep.records.command import Command


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("swift sft --model m", ("swift", "sft", "--model", "m")),
        ("$ nohup swift sft --model m > log 2>&1 &", ("swift", "sft", "--model", "m")),
        ("```bash\ncd /x\nsource env.sh\ntorchrun a.py --b 1\n```", ("torchrun", "a.py", "--b", "1")),
        ("swift sft \\\n  --model m \\\n  --bf16 true", ("swift", "sft", "--model", "m", "--bf16", "true")),
        ("python prepare.py x\nswift sft --model m", ("swift", "sft", "--model", "m")),
    ],
)
def test_it_is_found(text, argv):
    assert read_foreign_command(text).argv == argv


@pytest.mark.parametrize(
    "text",
    ["", "I ran swift sft and it died", "swift sft --model 'm", "swift sft --n $(nproc)", "swift", "for i in 1; do x"],
)
def test_what_only_a_shell_or_nobody_can_read_is_none(text):
    assert read_foreign_command(text) is None


def test_variables_of_the_shell_stay():
    command = read_foreign_command("MODEL=/m\nexport A=1\nB=2 swift sft --model $MODEL --output_dir ${OUT}/x")

    assert write_text(command) == 'A=1 B=2 swift sft --model "$MODEL" --output_dir "${OUT}/x"'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0$"), max_size=8), min_size=1))
def test_a_shell_reads_the_same_words(words):
    assert shlex.split(write_text(Command(("swift", *words)))) == ["swift", *words]
