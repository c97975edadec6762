"""Which pickles lie within a pickle, and what would they call?"""

import io
from collections.abc import Iterator
from typing import Any

from laststep.checkpoints.formats.list_tensors import walk
from laststep.checkpoints.formats.pickle_values import Built
from laststep.checkpoints.formats.read_pickle import LOADER, PickleError, read_pickle
from laststep.checkpoints.formats.zip_layout import ZipError, read_layout

DEEPEST = 8


def find_nested(value: Any, *, depth: int = 0) -> Iterator[str]:
    """Name the dangers in what torch.storage._load_from_bytes would be given."""
    for _, item in walk(value):
        if not isinstance(item, Built) or item.made_by != LOADER:
            continue
        given = item.arguments[0] if len(item.arguments) == 1 else None
        if not isinstance(given, bytes) or depth >= DEEPEST:
            yield str(LOADER)
            continue
        yield from _look_within(given, depth)


def _look_within(data: bytes, depth: int) -> Iterator[str]:
    try:
        for pickled in _pickles(data):
            yield from pickled.dangers
            yield from find_nested(pickled.value, depth=depth + 1)
    except (PickleError, ZipError):
        yield str(LOADER)


def _pickles(data: bytes) -> Iterator[Any]:
    file = io.BytesIO(data)
    if data.startswith(b"PK\x03\x04"):
        for entry in read_layout(file, offset=0, size=len(data)):
            if entry.name.endswith(".pkl"):
                yield read_pickle(io.BytesIO(data[entry.begin : entry.end]))
        return
    for _ in range(5):  # magic number, version, system, object, storage keys; see legacy_torch.py
        yield read_pickle(file)
        if file.tell() == len(data):
            return
