"""How does a file come to be there as a whole or not at all?"""

import contextlib
import os
from pathlib import Path


def write_durably(path: Path, data: bytes) -> None:
    """Write to a temporary name, sync, rename, and sync the folder."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # Windows opens no folders, and some network file systems sync none; the file itself is synced.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
