"""The output's file system is mounted read-only while the training runs, as the kernel does after an error."""

import subprocess
import sys

CAUSE = "disk.storage-fault"


def break_run(scene):
    with scene.small_disk(64 << 20) as disk:

        def remount(process):
            process.wait_for("'loss'")
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)

        return scene.run(scene.script(__file__), meddle=remount)


def train(out):
    import time

    import train as small
    from transformers import TrainerCallback

    class Slow(TrainerCallback):
        def on_step_end(self, args, state, control, **more):
            time.sleep(0.5)

    small.train(out, [Slow()], eval_strategy="no", save_steps=12, logging_steps=1)


if __name__ == "__main__":
    train(*sys.argv[1:])
