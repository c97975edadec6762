"""Beside an advice stands the whole corrected command, which the frameworks that are installed accept."""

import json
import subprocess

import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.read_log import open_text
from laststep.planning.foreign_command import read_foreign_command
from laststep.recovery.changes.catalog import CHANGES
from laststep.supervisor.correct_commands import correct_commands, write_changed

OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
SWIFT = """NPROC_PER_NODE=4 CUDA_VISIBLE_DEVICES=0,1 swift sft --model m --dataset d.jsonl \
--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --dataloader_num_workers 4 --dataset_num_proc 8 \
--max_length 4096 --learning_rate 1e-4 \
--adapters out/checkpoint-400 --gradient_checkpointing false --ddp_timeout 1800 --save_only_model true --output_dir o"""
ACCEPTS = """
import json, shlex, sys
from transformers import HfArgumentParser
{imported}
parser = HfArgumentParser([{name}])
for line in sys.stdin:
    words = [word for word in shlex.split(line)]
    argv = words[words.index("--model"):]
    _, unknown = parser.parse_known_args(argv)
    print(json.dumps(unknown), flush=True)
"""


def read(log, command=""):
    return correct_commands(diagnose(open_text(log), source="a log", command=command))


def test_an_advice_has_the_whole_command():
    advice = read(OUT_OF_MEMORY, SWIFT).verdict.advice

    assert "--per_device_train_batch_size 2 --gradient_accumulation_steps 4" in advice[0].command
    assert advice[0].command.startswith("NPROC_PER_NODE=4 CUDA_VISIBLE_DEVICES=0,1 swift sft --model m")


def test_a_command_in_the_same_text_is_found_over_its_lines():
    log = f"""I run
NPROC_PER_NODE=2 \\
swift sft \\
    --model m \\
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4
and get
{OUT_OF_MEMORY}"""

    assert read(log).verdict.advice[0].command == (
        "NPROC_PER_NODE=2 swift sft --model m --per_device_train_batch_size 1 --gradient_accumulation_steps 8"
    )


def test_what_ms_swift_tells_of_its_launch_will_do():
    log = f"run sh: `/opt/python -m torch.distributed.run --nproc_per_node 2 /opt/swift/cli/sft.py --model m \
--per_device_train_batch_size 2 --gradient_accumulation_steps 1`\n{OUT_OF_MEMORY}"

    assert "--per_device_train_batch_size 1 --gradient_accumulation_steps 2" in read(log).verdict.advice[0].command


@pytest.mark.parametrize("command", ["", "swift sft --per_device_train_batch_size 1", "make train", "swift sft --x 'a"])
def test_without_a_command_or_without_a_change_there_is_none(command):
    assert read(OUT_OF_MEMORY, command).verdict.advice[0].command is None


@pytest.mark.slow
@pytest.mark.parametrize("env", ["current", "reported"])
@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("from swift.arguments import SftArguments", "SftArguments"),
        ("from transformers import TrainingArguments", "TrainingArguments"),
    ],
)
def test_the_installed_version_accepts_every_corrected_command(environments, env, imported, name):
    """Parsed by the real framework; a flag that it does not know would be left over."""
    text = SWIFT if name == "SftArguments" else SWIFT.replace("swift sft", "python train.py")
    command = read_foreign_command(text)
    written = [line for change in CHANGES if (line := write_changed(command, change.name)) is not None]
    assert len(written) > len(CHANGES) * (0.9 if name == "SftArguments" else 0.7)
    program = ACCEPTS.format(imported=imported, name=name)

    ran = subprocess.run([environments(env), "-c", program], input="\n".join([*written, f"{text} --no_such_flag 1"]),
                         capture_output=True, text=True, check=True)  # fmt: skip

    unknown = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("[")]
    its_own = {"--model", "--dataset", "--dataset_num_proc", "--max_length", "--adapters"}
    left = [{word for word in words if word.startswith("--")} - (its_own if name != "SftArguments" else set())
            for words in unknown]  # fmt: skip
    assert len(left) == len(written) + 1
    assert left[-1] == {"--no_such_flag"}
    assert left[:-1] == [set()] * len(written)
