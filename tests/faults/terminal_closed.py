"""The terminal of a run of two ranks is closed: torchrun gets SIGHUP."""

import signal
import sys

CAUSE = "preemption.terminal-closed"


def break_run(scene):
    def hang_up(process):
        process.wait_for("'loss'")
        process.popen.send_signal(signal.SIGHUP)

    return scene.run(scene.script(__file__, ranks=2), meddle=hang_up)


def train(out):
    import train as small

    small.train(out, max_steps=4000, eval_strategy="no", save_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
