"""What is the content hash of a file?"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from blake3 import blake3

CHUNK = 2 << 20  # two of them are in memory, and stay in the cache of a core
MOST_THREADS = 4  # a training may be running beside


def hash_file(path: Path, tick: Callable[[int], None]) -> str:
    """Hash a file in bounded memory: one piece is read while the one before it is hashed."""
    digest = blake3(max_threads=min(MOST_THREADS, os.cpu_count() or 1))
    buffers = (bytearray(CHUNK), bytearray(CHUNK))
    with path.open("rb", buffering=0) as file, ThreadPoolExecutor(1) as reader:
        turn = 0
        count = file.readinto(buffers[turn]) or 0
        while count:
            ahead = reader.submit(file.readinto, buffers[1 - turn])
            digest.update(memoryview(buffers[turn])[:count])
            tick(count)
            count, turn = ahead.result() or 0, 1 - turn
    return digest.hexdigest()
