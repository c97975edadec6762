"""Compare the batches of a real torch loader with and without the guard, while its workers are killed.

    python streams.py CASE FOLDER     prints RESULT and one JSON object

Each case builds its loader twice with the same seed: once as torch would run it, once under the guard.
"""

import argparse
import json
import os
import random
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from laststep_guard.attach import make_guardian, watch_frameworks
from laststep_guard.settings import Settings

warnings.filterwarnings("ignore", message="This DataLoader will create")
warnings.filterwarnings("ignore", message=".*pin_memory.*")


class Rows(Dataset):
    """Rows that depend on every random source of the worker that builds them."""

    def __init__(self, count=90, deadly=(), broken=(), slow=()):
        self.count, self.deadly, self.broken, self.slow = count, deadly, broken, slow

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if index in self.broken:
            raise ValueError(f"row {index} is broken")
        if index in self.slow:
            time.sleep(30)
        worker = get_worker_info()
        numbers = [
            index,
            random.random(),
            np.random.rand(),
            torch.rand(()).item(),
            worker.id,
            worker.num_workers,
            worker.seed % 1000,
        ]
        return torch.tensor(numbers, dtype=torch.float64)


class Stream(IterableDataset):
    """Workers of different lengths, so that they end one after the other."""

    def __iter__(self):
        worker = get_worker_info()
        for number in range(30 + 7 * worker.id):
            yield torch.tensor([worker.id * 1000 + number, random.random(), torch.rand(()).item()], dtype=torch.float64)


class Collate:
    """Owns a generator that it makes when it is first used, as ms-swift's template does."""

    def __call__(self, rows):
        if not hasattr(self, "generator"):
            self.generator = np.random.RandomState(42)
        return {"rows": torch.stack(rows), "drawn": torch.tensor(self.generator.rand())}


def seeded(worker_id):
    """Seed as transformers does: from torch's own seed."""
    np.random.seed((torch.initial_seed() + worker_id) % 2**32)


def take(loader, *, epochs=2, stop_first_epoch_at=None, disturb=None):
    """List the batches of some epochs, and a number drawn from the trainer's own state at the end."""
    taken = []
    for epoch in range(epochs):
        iterator = iter(loader)
        for number, batch in enumerate(iterator):
            taken.append(str(batch["rows"].tolist() if isinstance(batch, dict) else batch.tolist()))
            if isinstance(batch, dict):
                taken.append(batch["drawn"].item())
            if disturb is not None:
                disturb(iterator, number)
            if epoch == 0 and number == stop_first_epoch_at:
                break
        del iterator
    taken.append(torch.rand(()).item())
    return taken


def kill_some(iterator, number):
    """Kill one or two workers after every fifth batch."""
    if number % 5 == 2:
        workers = [worker for worker in iterator._workers if worker.is_alive()]
        for worker in random.Random(number).sample(workers, min(2, len(workers))):
            os.kill(worker.pid, signal.SIGKILL)
            killed.append(worker.pid)


def kill_now_and_then(iterator, number):
    """Kill as often as is worth it where a new worker takes seconds to start."""
    if number in {2, 9}:
        kill_some(iterator, 2)


killed = []
kept = []


def compare(make, folder, *, disturb=kill_some, prepare=lambda: None, **how):
    """Take the batches without the guard, then with it."""
    torch.manual_seed(7)
    stock = take(make(), **how)
    guardian = guard(folder)
    prepare()
    torch.manual_seed(7)
    guarded = take(make(), disturb=disturb, **how)
    result = {
        "batches": len(stock),
        "identical": stock == guarded,
        "killed": len(killed),
        "events": read_events(folder),
    }
    shared = os.listdir("/dev/shm")  # noqa: S108  # where torch makes its segments
    left = [name for name in shared if name.startswith(tuple(f"torch_{pid}_" for pid in killed))]
    result["left_in_shared_memory"] = left if killed else []
    guardian.patches.undo()
    torch.manual_seed(7)
    result["identical_after_undo"] = stock == take(make(), **how)
    return result


def guard(folder):
    guardian = make_guardian(Settings(run_id="test", events_dir=str(folder)))
    watch_frameworks(guardian)
    return guardian


def read_events(folder):
    return [json.loads(line) for path in Path(folder).glob("*.jsonl") for line in path.read_text().splitlines()]


def map_loader(workers=3, **options):
    options = {"shuffle": True, "collate_fn": Collate(), "worker_init_fn": seeded, **options}
    return DataLoader(Rows(), batch_size=4, num_workers=workers, **options)


def tight_memory():
    """Let the budget see a machine that is full, then empty, then full again: processes are merged and split."""
    from laststep_guard.frameworks import torch_appetite
    from laststep_guard.guards.memory_readings import MemoryReading

    class Reader:
        reads = 0

        def read(self):
            Reader.reads += 1
            free = (1 << 40) if (Reader.reads // 12) % 2 else 0
            return MemoryReading(free, "cgroup", 1 << 40, 1 << 40)

        def read_kills(self):
            return 0

    torch_appetite.MemoryReader = Reader
    torch_appetite.Appetite.is_heavy = lambda self: True
    torch_appetite._GROW_AFTER = 1


def expect_error(make, folder, kind):
    """Take batches until the loader raises; give the error and the events."""
    guard(folder)
    torch.manual_seed(7)
    began = time.monotonic()
    try:
        take(make(), epochs=1)
    except kind as error:
        return {"error": str(error), "seconds": time.monotonic() - began, "events": read_events(folder)}
    return {"error": None, "events": read_events(folder)}


def rows_loader(rows, **options):
    return DataLoader(rows, batch_size=4, num_workers=2, **options)


def notice(folder):
    """How long is a training without batches when a worker is killed while it waits?"""
    guard(folder)
    iterator = iter(DataLoader(Rows(count=4000), batch_size=4, num_workers=1, prefetch_factor=2))
    pauses = []
    for number, _ in enumerate(iterator):
        if number % 20 == 5:
            os.kill(iterator._workers[0].pid, signal.SIGKILL)
            began = time.monotonic()
            for _ in range(3):
                next(iterator)
            pauses.append(time.monotonic() - began)
        if number >= 200:
            break
    return {"pauses": pauses, "events": read_events(folder)}


def pinned(folder):
    """The receiving thread of pin_memory, with a pin that works without an accelerator."""
    from laststep_guard.frameworks import torch_facts
    from laststep_guard.frameworks.torch_processes import PinningMailbox

    pinned_batches = []

    def mailbox(_device):
        return PinningMailbox(lambda data: pinned_batches.append(1) or data, lambda: None)

    def prepare():
        engine = torch.utils.data.dataloader._MultiProcessingDataLoaderIter
        torch_facts.make_pinning_mailbox = mailbox
        base = torch.utils.data.dataloader._BaseDataLoaderIter
        original = base.__init__

        def init(self, loader):
            original(self, loader)
            self._pin_memory = isinstance(self, engine)
            self._pin_memory_device = None

        base.__init__ = init

    result = compare(map_loader, folder, prepare=prepare)
    return {**result, "pinned": len(pinned_batches)}


def save(folder, *, is_guarded):
    """Does torch's own loader raise when its worker dies while a checkpoint is written?"""
    if is_guarded:
        settings = Settings(run_id="test", events_dir=str(folder), guards_off=("loader",))
        guardian = make_guardian(settings)
        watch_frameworks(guardian)
        guardian.state.is_saving = True
    iterator = iter(DataLoader(Rows(), batch_size=4, num_workers=1))
    next(iterator)
    kept.append(iterator)  # ended with the process, see main()
    worker = iterator._workers[0]
    try:
        os.kill(worker.pid, signal.SIGKILL)
        # Until the kernel has told of it; reaping it first would leave the handler nothing to find.
        while Path(f"/proc/{worker.pid}/stat").read_text().split()[2] != "Z":
            time.sleep(0.01)
        time.sleep(0.1)
    except RuntimeError as error:
        return {"raised": str(error), "events": read_events(folder)}
    worker.join()
    return {"raised": None, "died": worker.exitcode, "events": read_events(folder)}


CASES = {
    "killed": lambda folder: compare(map_loader, folder),
    "healthy": lambda folder: compare(map_loader, folder, disturb=None),
    "persistent": lambda folder: compare(lambda: map_loader(persistent_workers=True), folder),
    "persistent-stopped-early": lambda folder: compare(
        lambda: map_loader(persistent_workers=True), folder, stop_first_epoch_at=6
    ),
    "iterable": lambda folder: compare(lambda: DataLoader(Stream(), batch_size=4, num_workers=3), folder),
    "iterable-persistent": lambda folder: compare(
        lambda: DataLoader(Stream(), batch_size=4, num_workers=3, persistent_workers=True), folder
    ),
    "spawn": lambda folder: compare(
        lambda: map_loader(workers=2, multiprocessing_context="spawn"), folder, epochs=1, disturb=kill_now_and_then
    ),
    "forkserver": lambda folder: compare(
        lambda: map_loader(workers=2, multiprocessing_context="forkserver"), folder, epochs=1, disturb=kill_now_and_then
    ),
    "merged": lambda folder: compare(map_loader, folder, disturb=None, prepare=tight_memory),
    "merged-and-killed": lambda folder: compare(map_loader, folder, prepare=tight_memory),
    "merged-persistent": lambda folder: compare(
        lambda: map_loader(persistent_workers=True), folder, prepare=tight_memory
    ),
    "pinned": pinned,
    "gpu": lambda folder: compare(lambda: map_loader(pin_memory=True), folder),
    "no-batching": lambda folder: compare(
        lambda: DataLoader(Rows(), batch_size=None, num_workers=2, shuffle=True), folder
    ),
    "deadly-row": lambda folder: expect_error(lambda: rows_loader(Rows(deadly=(42,))), folder, RuntimeError),
    "broken-row": lambda folder: expect_error(lambda: rows_loader(Rows(broken=(42,))), folder, ValueError),
    "timeout": lambda folder: expect_error(lambda: rows_loader(Rows(slow=(42,)), timeout=2), folder, RuntimeError),
    "dies-at-start": lambda folder: expect_error(lambda: rows_loader(Rows(), worker_init_fn=die), folder, RuntimeError),
    "notice": notice,
    "save-alone": lambda folder: save(folder, is_guarded=False),
    "save-shielded": lambda folder: save(folder, is_guarded=True),
}


def die(_worker_id):
    os._exit(3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    print("RESULT", json.dumps(CASES[arguments.case](arguments.folder)), flush=True)
    if arguments.case.startswith("save"):
        # torch's own loader can wait for ever on a lock that its killed worker held.
        os._exit(0)


if __name__ == "__main__":
    main()
