"""A thread holds a lock while the workers are forked; they wait for it, and the user breaks off."""

import os
import signal
import sys
import threading

CAUSE = "data.worker-thread-deadlock"


def break_run(scene):
    def interrupt(process):
        process.wait_for(r"0/24")
        threading.Event().wait(6)
        os.killpg(process.popen.pid, signal.SIGINT)

    return scene.run(scene.script(__file__), meddle=interrupt)


def train(out):
    import train as small

    lock, held = threading.Lock(), threading.Event()

    def hold():
        with lock:
            held.set()
            threading.Event().wait()

    class LockedRows(small.Rows):
        def __getitem__(self, index):
            with lock:
                return super().__getitem__(index)

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    small.train(out, rows=LockedRows(), dataloader_num_workers=2, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
