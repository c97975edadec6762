"""torchrun's agent as laststep sees it: ranks in sessions of their own, SIGTERM to all when one fails, exit code 1.

`agent.py RANKS PROGRAM ARG…`
"""

import json
import os
import signal
import subprocess
import sys
import time

from laststep_guard import wire
from laststep_guard.emit import Emitter


class Told(Exception):  # noqa: N818  # named as what happened
    """As torch.distributed.elastic's SignalException."""


def main():
    count, words = int(sys.argv[1]), sys.argv[2:]
    events = Emitter(json.loads(os.environ[wire.ENVIRONMENT])["events_dir"], None)
    events.emit(wire.EventKind.ATTACHED, role="launcher")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, be_told)
    ranks = []
    try:
        for rank in range(count):
            environment = os.environ | {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
            ranks.append(subprocess.Popen(words, env=environment, start_new_session=True))
        sys.exit(watch(ranks, events))
    except Told:
        close(ranks, events)
        sys.exit(1)


def be_told(_number, _frame):
    raise Told


def watch(ranks, events):
    while True:
        codes = [rank.poll() for rank in ranks]
        failed = [code for code in codes if code]
        if failed:
            report(ranks, events)
            close(ranks, events)
            return 1
        if all(code == 0 for code in codes):
            report(ranks, events)
            return 0
        time.sleep(0.02)


def close(ranks, events):
    living = [rank for rank in ranks if rank.poll() is None]
    for rank in living:
        rank.terminate()
    deadline = time.monotonic() + 30
    for rank in living:
        try:
            rank.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            rank.kill()
            rank.wait()
    report(living, events)


def report(ranks, events):
    for rank in ranks:
        if rank.returncode is not None:
            events.emit(wire.EventKind.CHILD_ENDED, child=rank.pid, code=rank.returncode, command="python trainer.py")


if __name__ == "__main__":
    main()
