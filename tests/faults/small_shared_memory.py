"""Loader workers hand over large batches in a container whose /dev/shm holds 16 MiB; the user ends what then hangs."""

import os
import signal
import sys
import threading

CAUSE = "shared-memory.too-small"
SMALL = 'mount -t tmpfs -o size=16m tmpfs /dev/shm && exec "$@"'


def break_run(scene):
    def interrupt(process):
        process.wait_for(r"Error: .*shared memory|Bus error")
        threading.Event().wait(6)
        os.killpg(process.popen.pid, signal.SIGINT)

    wrapper = ("unshare", "--mount", "sh", "-c", SMALL, "sh")
    return scene.run(scene.script(__file__), wrapper=wrapper, meddle=interrupt)


def train(out):
    import train as small

    class WideRows(small.Rows):
        def __getitem__(self, index):
            return {name: value.repeat(4 << 10) for name, value in super().__getitem__(index).items()}

    small.train(out, rows=WideRows(), dataloader_num_workers=2, per_device_train_batch_size=8, eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
