"""What ends a run, what does not, and that nothing is left of it."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

DAEMON = (
    "import os, sys, time\n"
    "if os.fork(): sys.exit(int(sys.argv[1]))\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "open(sys.argv[2], 'w'); time.sleep(600)"
)


def start_training(laststep, swift, tmp_path, *options, ranks=2, words=(), **popen):
    ready = tmp_path / "ready"
    training = swift(ranks, "--target", 4, "--end", "wait", "--ready", ready, *options)
    process = laststep.start("run", "--json", *words, "--", *training, **popen)
    laststep.wait_until(lambda: all(Path(f"{ready}{rank}").exists() for rank in range(ranks)))
    return process


def last_report(process):
    _, errors = process.communicate(timeout=60)
    return json.loads(errors.decode().splitlines()[-1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_stops_well(laststep, swift, tmp_path, number):
    """Every rank gets the time to save; its launchers don't cut it short."""
    saved = tmp_path / "saved"
    process = start_training(laststep, swift, tmp_path, "--on-term", saved)

    process.send_signal(number)
    report = last_report(process)

    assert (report["outcome"], report["exit_code"], process.returncode) == ("stopped", 143, 143)
    assert saved.read_text() == "saved\n" * 2
    assert not laststep.living()


def test_two_signals_end_at_once(laststep, swift, tmp_path):
    saved = tmp_path / "saved"
    process = start_training(laststep, swift, tmp_path, "--on-term", saved)

    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    report = last_report(process)

    assert report["exit_code"] == 143
    assert not saved.exists()
    assert not laststep.living()


def test_what_does_not_stop_in_time_is_ended(laststep, tmp_path):
    ready = tmp_path / "ready"
    code = f"trap '' TERM; touch {ready}; while true; do sleep 1; done"
    process = laststep.start("run", "--json", "--grace", "0.3", "--", "sh", "-c", code)
    laststep.wait_until(ready.exists)

    process.terminate()

    assert last_report(process)["exit_code"] == 143
    assert not laststep.living()


@pytest.mark.parametrize("code", [0, 3])
def test_a_daemon_that_detached_itself_twice_is_ended(laststep, tmp_path, code):
    """Double fork, a session of its own, deaf to SIGTERM: the holder is its parent all the same."""
    report = laststep.report("--", sys.executable, "-c", DAEMON, str(code), tmp_path / "daemon")

    assert report["exit_code"] == code
    assert not laststep.living()


def test_a_kill_of_the_front_ends_its_trainers(laststep, swift, tmp_path):
    process = start_training(laststep, swift, tmp_path)

    os.kill(laststep.pid_of(f"{sys.executable} {Path(swift(1)[1])}"), signal.SIGKILL)

    assert last_report(process)["exit_code"] == 137
    assert not laststep.living()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_the_end_of_laststep_is_not_the_end_of_the_run(laststep, swift, tmp_path, number):
    """`attach` sees it through and gives the code that `run` would have given."""
    saved = tmp_path / "saved"
    process = start_training(laststep, swift, tmp_path, "--on-term", saved)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode in (-signal.SIGKILL, 128 + signal.SIGHUP)

    attached = laststep.start("attach", "last", "--json")
    assert b"attached to run" in attached.stderr.readline()
    attached.send_signal(signal.SIGINT)
    report = last_report(attached)

    assert (report["outcome"], report["exit_code"], attached.returncode) == ("stopped", 143, 143)
    assert saved.exists()


def test_a_run_that_ended_with_nobody_there_is_told_by_attach(laststep, trainer, tmp_path):
    ready = tmp_path / "ready"
    process = laststep.start("run", "--", *trainer, "--target", "5", "--step-seconds", "0.2", "--ready", str(ready))
    laststep.wait_until((tmp_path / "ready0").exists)
    process.kill()
    process.communicate()
    laststep.wait_until(lambda: not laststep.living())

    attached = laststep("attach", "--json")

    report = json.loads(attached.stderr.splitlines()[-1])
    assert (report["outcome"], report["steps"], attached.returncode) == ("finished", 5, 0)


def test_stop_ends_a_run_from_elsewhere(laststep, swift, tmp_path):
    process = start_training(laststep, swift, tmp_path, "--on-term", tmp_path / "saved")
    run_id = laststep.folder().name.rpartition("_")[2]

    stopped = laststep("stop", run_id)

    assert stopped.returncode == 0
    assert b"no process of it is left" in stopped.stderr
    assert last_report(process)["exit_code"] == 143
    assert (tmp_path / "saved").exists()


def test_stop_now_does_not_wait(laststep, swift, tmp_path):
    process = start_training(laststep, swift, tmp_path, "--on-term", tmp_path / "saved")

    laststep("stop", "last", "--now")

    assert last_report(process)["exit_code"] == 143
    assert not (tmp_path / "saved").exists()


def test_the_end_of_the_holder_is_the_end_of_the_run(laststep, swift, tmp_path):
    """laststep inherits the orphans and ends them: nothing trains on unseen."""
    process = start_training(laststep, swift, tmp_path)
    (holder,) = [pid for pid, words in laststep.living() if "laststep-holder" in words]

    os.kill(holder, signal.SIGKILL)
    report = last_report(process)

    assert (report["outcome"], report["exit_code"]) == ("lost", 137)
    assert not laststep.living()


@pytest.mark.parametrize(
    "number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGUSR1, signal.SIGPIPE]
)
def test_the_holder_shrugs_signals_off(laststep, trainer, tmp_path, number):
    ready = tmp_path / "ready"
    words = ["--target", "6", "--step-seconds", "0.1", "--ready", str(ready)]
    process = laststep.start("run", "--json", "--", *trainer, *words)
    laststep.wait_until((tmp_path / "ready0").exists)
    (holder,) = [pid for pid, words in laststep.living() if "laststep-holder" in words]

    os.kill(holder, number)

    assert last_report(process)["exit_code"] == 0


def test_a_sigterm_to_the_holder_stops_well(laststep, swift, tmp_path):
    process = start_training(laststep, swift, tmp_path, "--on-term", tmp_path / "saved")
    (holder,) = [pid for pid, words in laststep.living() if "laststep-holder" in words]

    os.kill(holder, signal.SIGTERM)

    assert last_report(process)["exit_code"] == 143
    assert (tmp_path / "saved").exists()


@pytest.mark.parametrize(
    "message", [b"\xff", b"\x0b{}", b"\x0b[", b'\x0b{"rows": -1, "columns": 1e99}', b"\x0c{}", b"\x0a" + b"x" * 9000]
)
def test_a_client_that_talks_nonsense_does_not_hurt_the_run(laststep, trainer, tmp_path, message):
    """It may be of another version."""
    process = laststep.start("run", "--", *trainer, "--end", "wait", "--ready", tmp_path / "ready")
    laststep.wait_until((tmp_path / "ready0").exists)
    holder = json.loads(laststep.wait_until((laststep.folder() / "attempts" / "1" / "holder.json").read_text))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.connect(holder["socket"])

        client.send(message)

        assert laststep("stop", "last").returncode == 0
    process.communicate(timeout=30)
    assert process.returncode == 143


def interactive_bash(laststep):
    child = pexpect.spawn(
        "bash", ["--norc", "-i"], env=laststep.environment | {"PS1": "ready> ", "TERM": "dumb"}, timeout=20
    )
    child.expect_exact("ready> ")
    return child


def test_in_the_background_of_a_shell_nothing_stops_and_keys_stay_the_shells(laststep, trainer, tmp_path):
    bash = interactive_bash(laststep)
    words = " ".join(
        laststep.words("run", "--", *trainer, "--target", "8", "--step-seconds", "0.3", "--ready", tmp_path / "ready")
    )
    bash.sendline(f"{words} > {tmp_path}/out 2>&1 &")
    laststep.wait_until((tmp_path / "ready0").exists)

    bash.sendline("echo typed $((40 + 2))")
    bash.expect_exact("typed 42")
    bash.sendline("wait; echo code $?; jobs")

    bash.expect_exact("code 0")
    assert b"Stopped" not in bash.before


def test_in_the_background_with_its_output_on_the_terminal(laststep, trainer, tmp_path):
    """The command has a pseudo-terminal, but our terminal is the shell's."""
    bash = interactive_bash(laststep)
    words = " ".join(
        laststep.words("run", "--", *trainer, "--target", "8", "--step-seconds", "0.3", "--ready", tmp_path / "ready")
    )
    bash.sendline(f"{words} &")
    laststep.wait_until((tmp_path / "ready0").exists)

    bash.sendline("echo typed $((40 + 2))")
    bash.expect_exact("typed 42")
    bash.sendline("wait $!; echo code $?")

    bash.expect_exact("code 0")
    assert b"Stopped" not in bash.before


def test_ctrl_z_pauses_the_showing_only_and_fg_brings_it_back(laststep, trainer, tmp_path):
    bash = interactive_bash(laststep)
    options = ["--target", "30", "--step-seconds", "0.1", "--ready", tmp_path / "ready"]
    bash.sendline(" ".join(laststep.words("run", "--", *trainer, *options)))
    bash.expect_exact("step 2")

    bash.send("\x1a")
    bash.expect_exact("Stopped")
    bash.expect_exact("ready> ")
    bash.sendline("echo typed $((40 + 2))")
    bash.expect_exact("typed 42")
    log = laststep.folder() / "output.log"
    laststep.wait_until(lambda: b"step 30" in log.read_bytes())
    bash.sendline("fg")

    bash.expect_exact("step 30")
    bash.expect_exact("exit code 0")


def test_ctrl_c_in_a_terminal_stops_well_and_says_so(laststep, trainer, tmp_path):
    bash = interactive_bash(laststep)
    options = ["--end", "wait", "--ready", tmp_path / "ready", "--on-term", tmp_path / "saved"]
    bash.sendline(" ".join(laststep.words("run", "--", *trainer, *options)))
    laststep.wait_until((tmp_path / "ready0").exists)

    bash.send("\x03")

    bash.expect_exact("press Ctrl-C again to end at once")
    bash.expect_exact("exit code 143")
    assert (tmp_path / "saved").exists()


def test_ctrl_backslash_leaves_it_running(laststep, trainer, tmp_path):
    bash = interactive_bash(laststep)
    bash.sendline(" ".join(laststep.words("run", "--", *trainer, "--end", "wait", "--ready", tmp_path / "ready")))
    laststep.wait_until((tmp_path / "ready0").exists)

    bash.send("\x1c")
    bash.expect_exact("left running")
    bash.expect_exact("ready> ")

    assert [words for _, words in laststep.living() if "trainer.py" in words]
    assert laststep("stop", "last").returncode == 0


def test_a_closed_terminal_does_not_end_the_run(laststep, trainer, tmp_path):
    bash = interactive_bash(laststep)
    bash.sendline(" ".join(laststep.words("run", "--", *trainer, "--end", "wait", "--ready", tmp_path / "ready")))
    laststep.wait_until((tmp_path / "ready0").exists)

    bash.close(force=True)
    laststep.wait_until(lambda: not [words for _, words in laststep.living() if "laststep run" in words])

    assert [words for _, words in laststep.living() if "trainer.py" in words]
    assert laststep("stop", "last").returncode == 0


def test_under_nohup_in_the_background(laststep, trainer, tmp_path):
    words = " ".join(laststep.words("run", "--", *trainer, "--target", "3", "--step-seconds", "0.1"))

    subprocess.run(["sh", "-c", f"nohup {words} > {tmp_path}/out 2>&1 &"], env=laststep.environment, check=True)

    laststep.wait_until(lambda: (tmp_path / "out").exists() and "exit code 0" in (tmp_path / "out").read_text())


def test_ctrl_s_holds_the_screen_and_not_the_training(laststep, tmp_path):
    """Far more is written than a terminal and its queues hold."""
    done = tmp_path / "done"
    code = (
        f"import os\nfor n in range(2000): os.write(1, b'%06d ' % n * 500 + b'\\n')\nopen({str(done)!r}, 'w'); input()"
    )
    first, *others = laststep.words("run", "--", sys.executable, "-c", code)
    child = pexpect.spawn(first, others, env=laststep.environment | {"TERM": "dumb"}, timeout=20)
    child.expect_exact("000003")

    child.send("\x13")
    laststep.wait_until(done.exists)
    child.send("\x11")

    child.expect_exact("001999 \r\n")
    child.send("\r")
    child.expect_exact("exit code 0")


def memory_of(pid):
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def test_supervising_takes_little_memory(laststep, swift, tmp_path):
    process = start_training(laststep, swift, tmp_path)
    (holder,) = [pid for pid, words in laststep.living() if "laststep-holder" in words]

    supervisor_bytes, holder_bytes = memory_of(process.pid), memory_of(holder)
    process.terminate()
    process.communicate(timeout=30)

    assert supervisor_bytes < 80 * 1024 * 1024
    assert holder_bytes < 20 * 1024 * 1024
