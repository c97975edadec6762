"""What a run leaves on disk, and what happens when it cannot."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from laststep.host.shared_memory import SHARED_MEMORY

MEGABYTE = 1024 * 1024


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of one megabyte."""
    if os.getuid() != 0:
        pytest.skip("mounting needs root")
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let root mount")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_folder_is_the_users_own(laststep):
    laststep("run", "--", "echo", "hello")
    folder = laststep.folder()

    assert {mode(path) for path in [folder, *folder.rglob("*")] if path.is_dir()} == {0o700}
    assert {mode(path) for path in folder.rglob("*") if path.is_file() and path.name != "holder.log"} == {0o600}
    assert (folder / "output.log").read_bytes() == b"hello\n"


def test_secrets_of_command_and_environment_are_not_written(laststep):
    environment = laststep.environment | {"MY_API_KEY": "hunter22hunter22"}
    laststep("run", "--", "echo", "--hub_token", "hf_abcdefghijklmnopqrstuvwxyz", env=environment)

    written = (laststep.folder() / "run.json").read_text()

    assert "hunter22" not in written
    assert "hf_abcdefgh" not in written
    assert "--hub_token" in written


def test_the_environment_gains_the_guard_and_nothing_else(laststep):
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    environment = laststep.environment

    seen = json.loads(laststep("run", "--", sys.executable, "-c", code, env=environment).stdout)

    ours = json.loads(seen.pop("LASTSTEP_GUARD"))
    first, rest = seen.pop("PYTHONPATH").split(os.pathsep, 1)
    assert ours["run_id"] == laststep.folder().name.rpartition("_")[2]
    assert first.endswith("laststep_guard/inject")
    assert rest == environment.pop("PYTHONPATH")
    seen.pop("LC_CTYPE", None)  # Python's own coercion of the C locale
    environment.pop("LC_CTYPE", None)
    assert seen == environment


def test_a_home_that_cannot_be_made_is_said_and_survived(laststep, trainer, tmp_path):
    """The beats go to memory, so the outcome is still judged, and the folder there is removed."""
    (tmp_path / "home").write_text("a file, not a folder")

    ended = laststep("run", "--json", "--", *trainer)

    assert ended.returncode == 0
    assert b"no run folder could be written" in ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["steps"] == 5
    assert not list(SHARED_MEMORY.glob(f"laststep-{os.getuid()}-*"))


@pytest.mark.root
def test_a_full_home_is_said_and_survived(laststep, trainer, tiny_disk):
    (tiny_disk / "ballast").write_bytes(bytes(MEGABYTE - 8192))

    ended = laststep("run", "--json", "--home", tiny_disk, "--", *trainer)

    assert ended.returncode == 0
    assert b"No space left" in ended.stderr
    assert json.loads(ended.stderr.splitlines()[-1])["outcome"] == "finished"


@pytest.mark.root
def test_a_read_only_home_is_said_and_survived(laststep, trainer, tiny_disk):
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)

    ended = laststep("run", "--json", "--home", tiny_disk, "--", *trainer)

    assert ended.returncode == 0
    assert b"Read-only file system" in ended.stderr


@pytest.mark.root
def test_a_disk_that_fills_during_the_run_costs_the_copy_only(laststep, tiny_disk):
    """Every byte still reaches the user; the log says how much it lacks."""
    code = "import os\nfor n in range(400): os.write(1, b'%06d' % n * 2000)"

    ended = laststep("run", "--json", "--home", tiny_disk, "--", sys.executable, "-c", code)

    assert ended.stdout == b"".join(b"%06d" % n * 2000 for n in range(400))
    assert ended.returncode == 0
    assert b"the copy of the output is not complete" in ended.stderr
    assert "bytes of output are missing" in json.loads(ended.stderr.splitlines()[-1])["notes"][0]


def test_a_run_folder_with_a_long_path_can_be_attached_to(laststep, trainer, tmp_path):
    """A socket's path has room for 107 bytes only."""
    home = tmp_path / ("long-" * 30)
    words = ["--end", "wait", "--ready", tmp_path / "ready"]
    process = laststep.start("run", "--home", home, "--", *trainer, *words)
    laststep.wait_until((tmp_path / "ready0").exists)

    stopped = laststep("stop", "last", "--home", home)
    process.communicate(timeout=30)

    assert (stopped.returncode, process.returncode) == (0, 143)


def test_two_runs_in_one_output_folder_are_told(laststep, trainer, tmp_path):
    output = ["--output_dir", tmp_path / "out"]
    waits = f"exec {' '.join(trainer)} --end wait --ready {tmp_path}/ready"
    first = laststep.start("run", "--", "sh", "-c", waits, "sh", *output)
    laststep.wait_until((tmp_path / "ready0").exists)
    first_id = laststep.folder().name.rpartition("_")[2]

    second = laststep("run", "--", "sh", "-c", "true", "sh", *output)
    laststep("stop", first_id)
    first.communicate(timeout=30)

    assert f"run {first_id} is writing to {tmp_path}/out right now".encode() in second.stderr


def test_runs_lists_what_is_and_was(laststep, trainer, tmp_path):
    laststep("run", "--", *trainer)
    process = laststep.start("run", "--", *trainer, "--end", "wait", "--ready", tmp_path / "ready")
    laststep.wait_until((tmp_path / "ready0").exists)

    listed = json.loads(laststep("runs", "--json").stdout)["runs"]
    laststep("stop", listed[0]["id"])
    process.communicate(timeout=30)

    assert [run["state"] for run in listed] == ["running", "finished"]
    assert (listed[0]["steps"], listed[0]["target_steps"]) == (3, 5)
    assert listed[1]["report"]["steps"] == 5


def test_a_run_that_cannot_be_reached_is_not_taken_for_lost(laststep, trainer, tmp_path):
    process = laststep.start("run", "--", *trainer, "--end", "wait", "--ready", tmp_path / "ready")
    laststep.wait_until((tmp_path / "ready0").exists)
    holder = laststep.folder() / "attempts" / "1" / "holder.json"
    laststep.wait_until(holder.exists)
    Path(json.loads(holder.read_text())["socket"]).unlink()

    attached = laststep("attach", "last")
    process.terminate()
    process.communicate(timeout=30)

    assert attached.returncode == 2
    assert b"cannot be reached" in attached.stderr


def test_a_run_nobody_knows_is_a_usage_error(laststep):
    laststep("run", "--", "true")

    ended = laststep("attach", "nosuch")

    assert ended.returncode == 2
    assert b"no run goes by the name" in ended.stderr.lower()


def test_a_switched_off_guard_is_told_with_its_reason(laststep):
    report = laststep.report("--", sys.executable, "-I", "-c", "print(1)")

    assert "python -I" in report["watched_from_outside_only"]


def test_chinese_is_spoken_to_a_chinese_locale(laststep):
    ended = laststep("run", "--", "true", env=laststep.environment | {"LC_ALL": "zh_CN.UTF-8"})

    assert "命令已结束" in ended.stderr.decode()


def test_shared_memory_of_killed_workers_is_removed_and_no_other(laststep, tmp_path):
    """torch names a segment after the process that made it."""
    code = (
        "import os, pathlib, signal, sys\n"
        "shm = pathlib.Path('/dev/shm')\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    (shm / f'torch_{os.getpid()}_1_0').write_bytes(b'x'); os.kill(os.getpid(), signal.SIGKILL)\n"
        "print(pid, flush=True)\n"
        "pathlib.Path(sys.argv[1]).touch()\n"
        "os._exit(0)"
    )
    foreign = SHARED_MEMORY / f"torch_{os.getpid()}_1_0"
    foreign.touch()

    ended = laststep("run", "--", sys.executable, "-c", code, tmp_path / "done")

    left = (SHARED_MEMORY / f"torch_{int(ended.stdout)}_1_0").exists()
    kept = foreign.exists()
    foreign.unlink()
    assert (left, kept) == (False, True)


def test_python_shared_memory_of_a_killed_process_is_removed(laststep, tmp_path):
    """Its name is random; that a process of the run had it mapped makes it the run's."""
    code = (
        "import os, signal, sys, time\n"
        "from multiprocessing import resource_tracker, shared_memory\n"
        "resource_tracker.register = lambda *_: None  # as when the tracker is killed too\n"
        "s = shared_memory.SharedMemory(create=True, size=64)\n"
        "open(sys.argv[1], 'w').write(s.name)\n"
        "signal.pause()"
    )
    process = laststep.start("run", "--", sys.executable, "-c", code, tmp_path / "name")
    name = laststep.wait_until(lambda: (tmp_path / "name").exists() and (tmp_path / "name").read_text())

    process.terminate()
    _, errors = process.communicate(timeout=30)

    assert not (SHARED_MEMORY / name).exists()
    assert b"segment" in errors
