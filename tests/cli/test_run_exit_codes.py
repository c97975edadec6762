"""The exit code says what really happened, with real processes."""

import json
import signal
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("words", "code"), [("true", 0), ("false", 1), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)]
)
def test_a_command_that_trains_nothing_keeps_its_own_code(laststep, words, code):
    assert laststep.report("--", "sh", "-c", words)["exit_code"] == code


def test_every_rank_at_the_target_step_is_finished(laststep, swift):
    report = laststep.report("--", *swift(2))

    assert (report["outcome"], report["exit_code"]) == ("finished", 0)
    assert (report["steps"], report["target_steps"]) == (5, 5)


def test_a_command_that_says_0_before_the_target_step_is_94(laststep, trainer):
    """The code of the command is not believed."""
    report = laststep.report("--", *trainer, "--end", "stop-short")

    assert (report["outcome"], report["exit_code"], report["steps"]) == ("unfinished", 94, 3)


def test_the_trainers_own_early_stop_is_finished(laststep, trainer):
    report = laststep.report("--", *trainer, "--end", "early")

    assert (report["outcome"], report["exit_code"]) == ("stopped_early", 0)


def test_a_killed_rank_is_137_though_its_launchers_say_1(laststep, swift):
    report = laststep.report("--", *swift(2, "--end", "kill", "--fails-on-rank", 1))

    assert (report["exit_code"], report["failed_rank"], report["signal"]) == (137, 1, signal.SIGKILL)


def test_a_killed_trainer_is_137_though_swift_says_247(laststep, trainer):
    front = [sys.executable, str(Path(__file__).resolve().parents[1] / "fakes" / "front.py")]

    assert laststep.report("--", *front, *trainer, "--end", "kill")["exit_code"] == 137


def test_a_rank_with_an_exception_is_1_and_named(laststep, swift):
    report = laststep.report("--", *swift(2, "--end", "exit"))

    assert (report["exit_code"], report["failed_rank"]) == (1, 0)
    assert "ValueError: bad row" in next(
        fault["summary"] for fault in report["faults"] if fault["kind"] == "rank_failed"
    )


def test_no_command_is_a_usage_error(laststep):
    ended = laststep("run")

    assert ended.returncode == 2
    assert b"laststep run -- swift sft" in ended.stderr


def test_a_command_that_does_not_exist_is_127(laststep):
    ended = laststep("run", "--", "pyhton3", "train.py")

    assert ended.returncode == 127
    assert b"pyhton3" in ended.stderr
    assert b"python3" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_a_file_that_is_no_program_is_126(laststep, tmp_path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF" + bytes(64))
    broken.chmod(0o755)

    ended = laststep("run", "--", broken)

    assert ended.returncode == 126
    assert b"cannot be executed" in ended.stderr


def test_a_script_whose_interpreter_is_missing_is_explained(laststep, tmp_path):
    script = tmp_path / "train"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)

    ended = laststep("run", "--", script)

    assert ended.returncode == 127
    assert b"interpreter" in ended.stderr


def test_a_pasted_command_is_run_with_its_variables_and_told_about(laststep, tmp_path):
    """Its redirection is followed as well, and `&` is left to laststep."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text("WHO=world \\\n  nohup sh -c 'echo hello $WHO' > copy.log &\n")

    ended = laststep("run", pasted, cwd=tmp_path)

    assert (ended.returncode, ended.stdout) == (0, b"hello world\n")
    assert (tmp_path / "copy.log").read_bytes() == b"hello world\n"
    assert b"nohup was left out" in ended.stderr


def test_a_shell_script_is_run(laststep, tmp_path):
    script = tmp_path / "train.sh"
    script.write_text("for n in 1 2; do echo $n $1; done; exit 5\n")

    ended = laststep("run", script, "a b")

    assert (ended.returncode, ended.stdout) == (5, b"1 a b\n2 a b\n")


def test_the_report_also_goes_to_a_file(laststep, tmp_path):
    laststep("run", "--report", tmp_path / "report.json", "--", "false")

    assert json.loads((tmp_path / "report.json").read_text())["exit_code"] == 1


def test_a_misspelt_guard_is_refused(laststep):
    ended = laststep("run", "--no-guard", "loadr", "--", "true")

    assert ended.returncode == 2
    assert b"loader" in ended.stderr
