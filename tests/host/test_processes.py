"""/proc is read right, also for names that try to look like something else."""

import os
import subprocess
import sys
import time

from laststep.host.processes import find_descendants, is_alive, read_process, read_started_at

NAMED = "import ctypes, sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode()); print(flush=True); input()"


def test_a_process_whose_name_has_brackets_is_read():
    process = subprocess.Popen([sys.executable, "-c", NAMED, ") R 1 (x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()

    seen = read_process(process.pid)
    process.communicate(b"\n")

    assert (seen.parent_pid, seen.is_zombie) == (os.getpid(), False)


def test_grandchildren_are_descendants():
    script = "sleep 30 & echo $!; wait"
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True)
    grandchild = int(process.stdout.readline())

    found = {each.pid for each in find_descendants(os.getpid())}
    os.kill(grandchild, 9)
    process.communicate()

    assert {process.pid, grandchild} <= found


def test_a_zombie_is_not_alive():
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    process.stdout.read()
    while not read_process(process.pid).is_zombie:
        pass

    assert not is_alive(process.pid)
    process.communicate()


def test_a_pid_used_again_is_somebody_else():
    ours = read_process(os.getpid())

    assert is_alive(ours.pid, ours.start_ticks)
    assert not is_alive(ours.pid, ours.start_ticks + 1)


def test_the_start_of_a_process_is_known_to_about_a_second():
    began = time.time()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        started_at = read_started_at(process.pid)
        process.communicate(b"\n")

    assert abs(started_at - began) < 2
    assert read_started_at(process.pid) is None
