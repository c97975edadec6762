"""Only one has a lock, and the kernel takes it back from whoever ends."""

import signal
import subprocess
import sys

from laststep.host.lock import is_locked, take_lock

HOLDER = """
import sys
from pathlib import Path
from laststep.host.lock import take_lock
lock = take_lock(Path(sys.argv[1]))
print(flush=True)
input()
"""


def test_a_lock_is_had_once(tmp_path):
    path = tmp_path / "lock"
    assert not is_locked(path)
    lock = take_lock(path)

    assert take_lock(path) is None
    assert is_locked(path)
    lock.let_go()
    assert not is_locked(path)


def test_a_holder_that_is_killed_has_it_no_more(tmp_path):
    path = tmp_path / "lock"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    assert is_locked(path)

    process.send_signal(signal.SIGKILL)
    process.communicate()

    assert not is_locked(path)


def test_where_no_file_can_be_made_nobody_is_kept_out(tmp_path):
    assert take_lock(tmp_path / "none" / "lock") is not None
