"""The user presses Ctrl-C in a healthy run."""

import os
import signal
import sys

CAUSE = "not-a-failure.no-fault-shown"


def break_run(scene):
    def interrupt(process):
        process.wait_for("'loss'")
        os.killpg(process.popen.pid, signal.SIGINT)

    return scene.run(scene.script(__file__), meddle=interrupt)


def train(out):
    import train as small

    small.train(out, max_steps=4000, eval_strategy="no", save_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
