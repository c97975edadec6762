"""Trainings that finish, with lines in between that look like an end: `python frighten.py OUT KIND`.

KIND: batch-size (a real shortage of memory, caught by accelerate, which halves the batch), rows (bad rows are skipped
with their tracebacks), restart (a rank fails in its first attempt; torchrun starts all again), samples (texts that
speak of kills), warnings (tracebacks of warnings), retries (a download that comes through at the third try), scaler (a
loss scale that settles), stack (a dump of all stacks that somebody asked for), finally (an error while a closed program
cleans up).
"""

import faulthandler
import logging
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import torch
from train import Rows, make_model, settle, train
from transformers import Trainer, TrainingArguments

LOG = logging.getLogger("finetune")
SAMPLES = [
    "Killed",
    "The kernel said: Out of memory: Killed process 4711 (python3) total-vm:9000kB. What is to be done?",
    "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity)",
    "OSError: [Errno 28] No space left on device",
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1331, unhandled system error",
]


class WideRows(Rows):
    def __getitem__(self, index):
        row = super().__getitem__(index)
        return {name: value.repeat(4096) for name, value in row.items()}


def shrink_batches(out):
    """Ask for more than the limit on this process allows, until a batch fits."""
    with Path("/proc/self/statm").open() as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), resource.RLIM_INFINITY))
    from accelerate.utils import find_executable_batch_size

    @find_executable_batch_size(starting_batch_size=64)
    def run(batch_size):
        LOG.info("trying a batch of %d", batch_size)
        hold = torch.ones(batch_size, 4 << 20)  # 16 MiB a row
        LOG.info("a batch of %d fits: %d", batch_size, hold.numel())

    run()
    train(out)


def skip_rows(out):
    """Meet rows that cannot be read, and say so with all there is to say."""
    import json

    for number, text in enumerate(['{"a": 1}', '{"a": ', '{"a": 2}', "{}", "[1, 2"]):
        try:
            json.loads(text)["a"]
        except (ValueError, KeyError, TypeError):
            LOG.exception("row %d cannot be used and is skipped", number)
    train(out)


def fail_once(out):
    """Fail in the first attempt of torchrun, and train in the second."""
    if os.environ.get("TORCHELASTIC_RESTART_COUNT") == "0" and os.environ["RANK"] == "1":
        raise RuntimeError("this rank fails once")
    train(out)


def tell_samples(out):
    for number, text in enumerate(SAMPLES):
        LOG.info("sample %d: [INPUT] %s [LABELS] %s", number, text, text[::-1])
    train(out)


def warn(out):
    def show(message, category, filename, lineno, file=None, line=None):
        traceback.print_stack(limit=4, file=sys.stderr)
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))

    warnings.showwarning = show
    warnings.simplefilter("always")
    warnings.warn("this way of calling is deprecated and will raise an error", DeprecationWarning, stacklevel=1)
    train(out)


def retry(out):
    def download(attempt):
        if attempt < 2:
            raise ConnectionError("HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.")
        LOG.info("downloaded at try %d", attempt + 1)

    for attempt in range(3):
        try:
            download(attempt)
        except ConnectionError as error:
            LOG.warning("%s thrown while requesting HEAD https://huggingface.co/x. Retrying in %ds [Retry %d/5].",
                        repr(error), attempt + 1, attempt + 1)  # fmt: skip
            time.sleep(0.1)
    train(out)


def settle_scale(out):
    """Let a real scaler meet infinite gradients until its scale fits."""
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, growth_interval=50)
    weight = torch.ones(8, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1e-3)
    for step in range(6):
        before = scaler.get_scale()
        scaler.scale((weight * 1e30).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        if scaler.get_scale() < before:
            LOG.info("[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: %d, reducing to %d",
                     before, scaler.get_scale())  # fmt: skip
        LOG.info("step %d: loss nan, grad norm inf" if step == 0 else "step %d: skipped", step)
    train(out)


def dump_stacks(out):
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    os.kill(os.getpid(), signal.SIGUSR2)
    train(out)


def fail_at_exit(out):
    class Client:
        def __del__(self):
            raise BrokenPipeError("the telemetry server went away")

    client = Client()
    trainer = Trainer(model=make_model(), args=TrainingArguments(**settle(out, max_steps=6)), train_dataset=Rows(),
                      eval_dataset=Rows())  # fmt: skip
    trainer.train()
    del client


KINDS = {
    "batch-size": shrink_batches, "rows": skip_rows, "restart": fail_once, "samples": tell_samples, "warnings": warn,
    "retries": retry, "scaler": settle_scale, "stack": dump_stacks, "finally": fail_at_exit,
}  # fmt: skip


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    KINDS[sys.argv[2]](sys.argv[1])
