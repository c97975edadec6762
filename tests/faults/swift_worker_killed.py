"""Somebody kills a loader worker of the reported ms-swift run, as the kernel does when memory is short."""

import os
import signal

import psutil

CAUSE = "host-memory.worker-oom-killed"


def break_run(scene):
    killed = []

    def kill_worker(process):
        process.wait_for(r"'loss': ")
        trainers = psutil.Process(process.popen.pid).children(recursive=True)
        workers = [child for child in trainers if child.parent().pid != process.popen.pid]
        killed.append(max(workers, key=lambda child: child.create_time()).pid)
        os.kill(killed[0], signal.SIGKILL)

    broken = scene.run(scene.swift(), meddle=kill_worker)
    return broken.expect(killed, "nobody was killed")
