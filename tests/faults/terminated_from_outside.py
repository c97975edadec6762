"""torchrun is sent SIGTERM in a healthy run, as a scheduler does that takes the node back."""

import signal
import sys

CAUSE = "preemption.scheduler-sigterm"


def break_run(scene):
    def terminate(process):
        process.wait_for("'loss'")
        process.popen.send_signal(signal.SIGTERM)

    return scene.run(scene.script(__file__, ranks=2), meddle=terminate)


def train(out):
    import train as small

    small.train(out, max_steps=4000, eval_strategy="no", save_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
