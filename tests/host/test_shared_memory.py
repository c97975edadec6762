"""Only what a dead process of the run left is removed."""

import os
import subprocess
import sys
import time

from laststep.host.shared_memory import find_mapped_segments, remove_segments

LONG_AGO = time.time() - 3600


def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_segment_of_a_dead_process_of_the_run_goes(tmp_path):
    pid = dead_pid()
    (tmp_path / f"torch_{pid}_77_0").touch()

    assert remove_segments({pid}, set(), not_before=LONG_AGO, folder=tmp_path) == [f"torch_{pid}_77_0"]


def test_segments_of_others_of_the_living_and_from_before_stay(tmp_path):
    pid, stranger = dead_pid(), dead_pid()
    living = tmp_path / f"torch_{os.getpid()}_1_0"
    others = tmp_path / f"torch_{stranger}_1_0"
    before = tmp_path / f"torch_{pid}_1_0"
    for path in (living, others, before):
        path.touch()
    os.utime(before, (LONG_AGO, LONG_AGO))

    assert remove_segments({pid, os.getpid()}, set(), not_before=time.time(), folder=tmp_path) == []
    assert living.exists()
    assert others.exists()
    assert before.exists()


def test_an_unnamed_segment_belongs_to_the_process_that_mapped_it():
    """Python's own shared memory has a random name."""
    code = (
        "from multiprocessing import shared_memory, resource_tracker\n"
        "s = shared_memory.SharedMemory(create=True, size=64)\n"
        "print(s.name, flush=True); input(); s.close(); s.unlink()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    name = process.stdout.readline().strip()

    mine = find_mapped_segments([process.pid], {name})
    foreign = find_mapped_segments([os.getpid()], {name})
    process.communicate("\n")

    assert (mine, foreign) == ({name}, set())
