"""One of two ranks holds more and more at each step, in a container with 4 GiB, until the kernel kills it."""

import os
import sys

CAUSE = "host-memory.rank-oom-killed"


def break_run(scene):
    broken = scene.run(scene.script(__file__, ranks=2), limit="4G")
    return broken.expect(broken.oom_kills > 0, "the kernel killed nobody")


def train(out):
    import torch
    import train as small
    from transformers import TrainerCallback

    kept = []

    class Hoard(TrainerCallback):
        def on_step_end(self, args, state, control, **more):
            if os.environ["RANK"] == "1":
                kept.append(torch.ones(128 << 20))  # 512 MiB a step

    small.train(out, [Hoard()], eval_strategy="no")


if __name__ == "__main__":
    train(*sys.argv[1:])
