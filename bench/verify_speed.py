"""How fast is a sealed checkpoint verified, and in how much memory?

4 GiB of tensors, in the page cache; compared with blake3 over the same bytes with the same threads.
"""

import json
import os
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

from blake3 import blake3

from harness import Bench, run_bench
from laststep.checkpoints.hash_file import MOST_THREADS
from laststep.checkpoints.manifest import seal_checkpoint
from laststep.checkpoints.verify import verify_checkpoint
from laststep.records.checkpoint import SaveFacts

SHARDS, SHARD_BYTES = 4, 1 << 30
ROUNDS = 3
LEAST_SHARE = 0.7
MOST_MEMORY = 150_000_000
# A process of its own, so that the peak is that of the verification alone.
PROBE = """
import sys
from pathlib import Path
from laststep.checkpoints.verify import verify_checkpoint
checked = verify_checkpoint(Path(sys.argv[1]))
assert checked.is_sealed, checked
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # that of rusage survives an exec
print(int(peak.split()[1]) * 1024)
"""


def measure(bench: Bench) -> None:
    folder = bench.work / "checkpoint-10"
    write_checkpoint(folder)
    sealed = seal_checkpoint(folder, SaveFacts(step=10))
    bench.claim("it is sealed", holds=sealed.is_sealed, figure=sealed.problems)
    ours, theirs = [], []
    for _ in range(ROUNDS):  # in turn, since another program may be running
        theirs.append(timed(lambda: hash_all(folder)))
        ours.append(timed(lambda: verify_checkpoint(folder)))
    share = statistics.median(theirs) / statistics.median(ours)
    gib = SHARDS * SHARD_BYTES / 2**30
    bench.claim(
        f"verification reaches {LEAST_SHARE:.0%} of the speed of blake3 alone", holds=share >= LEAST_SHARE,
        figure=f"{gib / statistics.median(ours):.2f} of {gib / statistics.median(theirs):.2f} GiB/s: {share:.0%}",
    )  # fmt: skip
    ran = subprocess.run([sys.executable, "-c", PROBE, folder], capture_output=True, text=True, check=True)
    peak = int(ran.stdout)
    bench.claim("below 150 MB of memory", holds=peak < MOST_MEMORY, figure=f"{peak / 1e6:.0f} MB")


def write_checkpoint(folder: Path) -> None:
    """Write a sharded model of random bytes that are finite numbers, and what a trainer needs beside it."""
    folder.mkdir(parents=True)
    part = bytes(byte & 0x3F for byte in os.urandom(1 << 20))
    names, placed = [], {}
    for index in range(SHARDS):
        name = f"model-{index + 1:05}-of-{SHARDS:05}.safetensors"
        tensor = f"model.layers.{index}.mlp.weight"
        placed[tensor] = name
        names.append(name)
        entry = {"dtype": "F32", "shape": [SHARD_BYTES // 4096, 1024], "data_offsets": [0, SHARD_BYTES]}
        header = json.dumps({tensor: entry}).encode()
        with (folder / name).open("wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            for _ in range(SHARD_BYTES // len(part)):
                file.write(part)
    index = {"metadata": {"total_size": SHARDS * SHARD_BYTES}, "weight_map": placed}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text("{}")
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": 10, "log_history": []}))
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"):
        (folder / name).write_bytes(b"\x80\x02}.")  # an empty dictionary


def hash_all(folder: Path) -> None:
    for path in sorted(folder.glob("*.safetensors")):
        blake3(max_threads=min(MOST_THREADS, os.cpu_count() or 1)).update_mmap(path).hexdigest()


def timed(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    run_bench("A sealed checkpoint is verified at the speed of hashing", measure)
