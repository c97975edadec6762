"""Is a zip file that torch.save wrote whole, and harmless?

Such an archive holds `NAME/data.pkl`, whose persistent ids name storages `NAME/data/KEY`; see torch/serialization.py.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Reading
from laststep.checkpoints.formats import imposters
from laststep.checkpoints.formats.find_not_finite import find_not_finite
from laststep.checkpoints.formats.list_tensors import Storage, list_storages, list_tensors
from laststep.checkpoints.formats.look import Look
from laststep.checkpoints.formats.nested import find_nested
from laststep.checkpoints.formats.read_pickle import PickleError, ReadPickle, read_pickle
from laststep.checkpoints.formats.scalars import read_scalars
from laststep.checkpoints.formats.zip_layout import ZipEntry, ZipError, find_changed_entry, read_layout
from laststep.records.checkpoint import Problem
from laststep.records.text import Text

ZIP_START = b"PK\x03\x04"  # by which torch.load tells the formats apart
LARGEST_PICKLE = 1 << 29
OWN_CLASSES_IN = "training_args.bin"
_CODE = ("/code/", "/constants.pkl")  # TorchScript: torch.load would run it
_CHANGED = Text(en="{name!r} does not have the checksum it was written with", zh="{name!r} 的校验和与写入时不符")
_NO_STORAGE = Text(
    en="storage {key} of {count:,} elements is not in it", zh="其中没有包含 {count:,} 个元素的存储 {key}"
)
_NO_PICKLE = Text(en="it holds no data.pkl", zh="其中没有 data.pkl")
_BAD_PICKLE = Text(en="its pickle breaks off or makes no sense", zh="其 pickle 中断或不合理")


def read(look: Look, *, offset: int = 0) -> Reading:
    """Read an archive, which may be a part of a file that begins at an offset."""
    with look.path.open("rb") as file:
        try:
            entries = read_layout(file, offset=offset, size=look.size)
        except ZipError as error:
            tail = imposters.find_zero_tail(look) if not offset else None
            return Reading(problems=(tail or problems.torn(look.name, error.how),))
        found = [*_find_code(look, entries)]
        if look.reads_data:
            found += _find_changed(look, file, entries)
        return _read_pickles(look, file, entries, found)


def _find_code(look: Look, entries: tuple[ZipEntry, ...]) -> Iterator[Problem]:
    for entry in entries:
        if any(part in f"/{entry.name}" for part in _CODE):
            yield problems.malicious(look.name, f"TorchScript ({entry.name})")
            return


def _find_changed(look: Look, file: BinaryIO, entries: tuple[ZipEntry, ...]) -> Iterator[Problem]:
    for entry in find_changed_entry(file, entries, look.tick):
        file.seek(entry.begin)
        if entry.size >= imposters.PAGE and _has_zero_page(file, entry):
            yield imposters.zeros(look.name, imposters.PAGE, entry.begin)
        yield problems.torn(look.name, _CHANGED, name=entry.name)
        return


def _has_zero_page(file: BinaryIO, entry: ZipEntry) -> bool:
    """Tell whether a page of the file that lies in an entry is all zeros."""
    first = -(-entry.begin // imposters.PAGE) * imposters.PAGE
    for at in range(first, entry.end - imposters.PAGE + 1, imposters.PAGE):
        file.seek(at)
        if not file.read(imposters.PAGE).strip(b"\0"):
            return True
    return False


def _read_pickles(look: Look, file: BinaryIO, entries: tuple[ZipEntry, ...], found: list[Problem]) -> Reading:
    value: Any = None
    main = [entry for entry in entries if entry.name.endswith(".pkl")]
    if not any(entry.name.rpartition("/")[2] == "data.pkl" for entry in main):
        found.append(problems.torn(look.name, _NO_PICKLE))
    for entry in main:
        try:
            pickled = _read_entry(look, file, entry)
        except PickleError:
            if not found:
                found.append(problems.torn(look.name, _BAD_PICKLE))
            continue
        found += [problems.malicious(look.name, name) for name in (*pickled.dangers, *find_nested(pickled.value))]
        if entry.name.rpartition("/")[2] == "data.pkl":
            value = pickled.value
    stored = {entry.name.rpartition("/data/")[2]: entry for entry in entries if "/data/" in entry.name}
    storages = list_storages(value)
    found += _find_missing_storages(look, storages, stored) if not found else []
    if found:
        return Reading(problems=tuple(found), value=value)
    places = {key: entry.begin for key, entry in stored.items()}
    tensors = list_tensors(value, places)
    return Reading(
        problems=tuple(find_not_finite(look, file, tensors)) if look.is_deep else (),
        value=read_scalars(file, value, places),
        tensors=tensors,
    )


def _read_entry(look: Look, file: BinaryIO, entry: ZipEntry) -> ReadPickle:
    if entry.size > LARGEST_PICKLE:
        raise PickleError
    file.seek(entry.begin)
    allows_own = look.name.rpartition("/")[2] == OWN_CLASSES_IN
    return read_pickle(io.BytesIO(file.read(entry.size)), allows_own_classes=allows_own)


def _find_missing_storages(
    look: Look, storages: Mapping[str, Storage], stored: Mapping[str, ZipEntry]
) -> Iterator[Problem]:
    for key, storage in storages.items():
        entry = stored.get(key)
        if entry is None or (storage.width and entry.size != storage.width * storage.count):
            yield problems.torn(look.name, _NO_STORAGE, key=key, count=storage.count)
            return
