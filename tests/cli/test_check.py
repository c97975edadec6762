import json
import socket

import pytest

COMMAND = ["swift", "sft", "--model", "m", "--save_only_model", "true"]


@pytest.fixture
def swift(tmp_path):
    program = tmp_path / "bin" / "swift"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho started >&2; exit 9\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_nothing_is_started_and_every_check_answers(laststep, swift, tmp_path):
    checked = laststep("check", "--json", "--", swift, *COMMAND[1:], "--output_dir", tmp_path)

    values = json.loads(checked.stdout)

    assert checked.returncode == 0
    assert b"started" not in checked.stderr
    assert {"check", "severity", "summary", "detail", "fix", "cured_by"} == set(values["findings"][0])
    assert {"resumable": "warning", "output-folder": "ok"}.items() <= {
        finding["check"]: finding["severity"] for finding in values["findings"]
    }.items()
    assert "--save_only_model false" in values["command"]


def test_a_blocker_ends_with_3_and_the_command_to_run_instead(laststep, swift, tmp_path, port):
    typed = [f"MASTER_PORT={port}", "NPROC_PER_NODE=2", swift, "sft", "--model", "m", "--output_dir", tmp_path]

    checked = laststep("check", "--", *typed)

    shown = checked.stdout.decode()
    assert checked.returncode == 3
    assert f"Port {port} is in use" in shown
    assert f"MASTER_PORT={port}" not in shown.split("instead:")[1]


def test_it_speaks_chinese(laststep, swift, tmp_path):
    checked = laststep("check", "--lang", "zh", "--", swift, *COMMAND[1:], "--output_dir", tmp_path)
    assert "检查点只含权重" in checked.stdout.decode()


def test_without_a_command_it_says_how_to_give_one(laststep):
    checked = laststep("check")
    assert checked.returncode == 2
    assert b"laststep check -- swift sft" in checked.stderr
