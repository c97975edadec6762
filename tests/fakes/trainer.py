"""A training rank as laststep sees one: it attaches, beats, steps, and ends in the way it is told.

`trainer.py --target 5 --end ok|exit|stop-short|early|wait|kill`, with RANK and WORLD_SIZE from the environment.
"""

import argparse
import contextlib
import json
import mmap
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "checkpoints" / "builders"))

from small_checkpoints import write_checkpoint  # found by the line above

from laststep_guard import wire
from laststep_guard.emit import Emitter
from laststep_guard.guards.agreement import Agreement


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", type=int, default=5)
    parser.add_argument("--step-seconds", type=float, default=0.0)
    parser.add_argument("--end", default="ok")
    parser.add_argument("--fails-on-rank", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--ready", type=Path, help="its name and the rank: created when the first step has been made")
    parser.add_argument("--on-term", type=Path, help="a file to append `saved` to on SIGTERM, half a second later")
    parser.add_argument("--output_dir", type=Path, help="save every second step there, and go on from what is given")
    parser.add_argument("--dies-at", type=int, help="the step after which it kills itself")
    parser.add_argument("--takes-requests", action="store_true", help="save when the holder asks for it")
    parser.add_argument("--save-seconds", type=float, default=0.0, help="how long a save on request takes")
    parser.add_argument("--dies-once", type=Path, help="a file that is created when it does, and keeps it from it")
    options = parser.parse_args()
    rank = int(os.environ.get("RANK", "0"))
    end = options.end if rank == options.fails_on_rank or options.end in ("ok", "wait") else "wait"
    if options.on_term is not None:
        signal.signal(signal.SIGTERM, lambda *_: save_and_leave(options.on_term))
    ours = Rank(rank)
    ours.save_seconds = options.save_seconds
    train(ours, options, end)


def save_and_leave(path):
    time.sleep(0.5)  # a save takes its time; this is what the grace period is for
    with path.open("a") as file:
        file.write("saved\n")
    sys.exit(0)


class Rank:
    """The guard's part, written by hand."""

    def __init__(self, rank):
        settings = json.loads(os.environ[wire.ENVIRONMENT])
        self.rank = rank
        self.sequence = self.last_save = self.answer = 0
        self.save_seconds = 0.0
        self.agreement = Agreement(settings["requests_dir"]) if settings.get("requests_dir") else None
        self.events = Emitter(settings["events_dir"], rank)
        self.resumed_from = int((settings.get("resume_from") or "checkpoint-0").rpartition("-")[2])
        if settings.get("resume_from"):
            load(Path(settings["resume_from"]))
        self.map = self._allocate(settings["beats_dir"])
        now = time.time()
        world_size = int(os.environ.get("WORLD_SIZE", "1"))
        wire.pack_head(self.map, rank=rank, local_rank=rank, world_size=world_size, pid=os.getpid(), started_at=now)
        self.events.emit(wire.EventKind.ATTACHED, role="rank", world_size=world_size, local_rank=rank)

    def _allocate(self, folder):
        if folder is None:
            return bytearray(wire.BEAT_BYTES)
        fd = os.open(Path(folder) / wire.beat_name(self.rank), os.O_RDWR | os.O_CREAT, 0o600)
        os.posix_fallocate(fd, 0, wire.BEAT_BYTES)
        return mmap.mmap(fd, wire.BEAT_BYTES)

    def beat(self, phase=None, flags=None, step=None, target=None):
        self.state = (phase, flags, step, target) if phase is not None else self.state
        phase, flags, step, target = self.state
        self.sequence += 1
        now = time.time()
        wire.pack_body(
            self.map, self.sequence, phase, flags, 0, step, target, now, now, self.last_save, self.answer
        )  # fmt: skip

    def save_if_asked(self, flags, step, target):
        proposal = self.agreement.look(step, self)
        if proposal is not None:
            time.sleep(self.save_seconds)
            self.last_save = step
            self.beat(wire.Phase.STEP, flags, step, target)
            if proposal.stop:
                time.sleep(0.2)  # the others save as well
                sys.exit(143)


def load(checkpoint):
    """Load what a checkpoint holds, as torch did before it had `weights_only`."""
    for path in checkpoint.iterdir():
        if path.suffix in (".pt", ".bin", ".pth"):
            with contextlib.suppress(ImportError, pickle.UnpicklingError):  # torch is not here
                pickle.loads(path.read_bytes())  # noqa: S301  # that is what it stands for


def train(rank, options, end):
    flags = wire.Flag.TRAINER_SEEN | (wire.Flag.TAKES_REQUESTS if options.takes_requests else 0)
    target = options.target
    first = rank.resumed_from if options.output_dir is not None else 0
    place = str(options.output_dir.absolute()) if options.output_dir is not None else None
    rank.events.emit(
        wire.EventKind.TRAIN_BEGAN, step=first, target_step=target, output_dir=place, accumulation=1, trainer="Fake"
    )
    workers = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) for _ in range(options.workers)]
    if workers:
        rank.events.emit(wire.EventKind.WORKERS_STARTED, loader="train", workers=[worker.pid for worker in workers])
    rank.beat(wire.Phase.STEP, flags, first, target)
    for step in range(first + 1, target + 1):
        time.sleep(options.step_seconds)
        rank.beat(wire.Phase.STEP, flags, step, target)
        print(f"rank {rank.rank} step {step}", flush=True)
        if options.ready is not None:
            Path(f"{options.ready}{rank.rank}").touch()
        if options.output_dir is not None and step % 2 == 0:
            save(rank, options.output_dir.absolute() / f"checkpoint-{step}", step)
        if options.takes_requests:
            rank.save_if_asked(flags, step, target)
        die_if_wanted(options, step)
        if step == target // 2 + 1 and end != "ok":
            finish_badly(rank, flags, step, target, end)
    rank.beat(wire.Phase.END, flags | wire.Flag.TRAIN_ENDED, target, target)
    rank.events.emit(wire.EventKind.TRAIN_ENDED, step=target, target_step=target, stopped_early=False, stopped_by=None)
    for worker in workers:
        worker.kill()
        worker.wait()


def save(rank, checkpoint, step):
    shutil.rmtree(checkpoint, ignore_errors=True)
    write_checkpoint(checkpoint, step=step)
    files = {path.name: path.stat().st_size for path in checkpoint.iterdir()}
    rank.events.emit(wire.EventKind.CHECKPOINT_SAVED, path=str(checkpoint), step=step, seconds=0.0)
    rank.events.emit(wire.EventKind.SAVE_PART_DONE, path=str(checkpoint), step=step, world_size=1, files=files)


def die_if_wanted(options, step):
    if step != options.dies_at or (options.dies_once is not None and options.dies_once.exists()):
        return
    if options.dies_once is not None:
        options.dies_once.touch()
    os.kill(os.getpid(), signal.SIGKILL)


def finish_badly(rank, flags, step, target, end):
    if end == "exit":
        rank.events.emit(wire.EventKind.RANK_FAILED, error="ValueError", message="bad row", step=step)
        sys.exit(1)
    if end == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "early":
        rank.beat(wire.Phase.END, flags | wire.Flag.TRAIN_ENDED | wire.Flag.STOPPED_EARLY, step, target)
        sys.exit(0)
    if end == "stop-short":
        rank.beat(wire.Phase.END, flags | wire.Flag.TRAIN_ENDED, step, target)
        sys.exit(0)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
