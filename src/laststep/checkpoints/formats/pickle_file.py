"""Is a file of bare pickles whole, and harmless?

Before version 1.6 torch.save wrote five pickles (a magic number, the version, facts of the system, the object, the keys
of its storages) and then each storage: its count of elements in eight bytes, and the elements. `_legacy_save` in
torch/serialization.py still does. What does not begin with the magic number is a pickle by itself.
"""

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Reading
from laststep.checkpoints.formats import imposters
from laststep.checkpoints.formats.find_not_finite import find_not_finite
from laststep.checkpoints.formats.list_tensors import list_storages, list_tensors
from laststep.checkpoints.formats.look import Look
from laststep.checkpoints.formats.nested import find_nested
from laststep.checkpoints.formats.read_pickle import PickleError, ReadPickle, read_pickle
from laststep.checkpoints.formats.scalars import read_scalars
from laststep.checkpoints.formats.torch_archive import OWN_CLASSES_IN
from laststep.records.checkpoint import Problem
from laststep.records.text import Text

MAGIC = 0x1950A86A20F9469CFC6C
_BREAKS_OFF = Text(en="its pickle breaks off or makes no sense", zh="其 pickle 中断或不合理")
_REST = Text(en="{count:,} bytes stand behind its end", zh="结尾之后还有 {count:,} 字节")
_STORAGES = Text(en="its storages do not fit the file", zh="其存储与文件不符")


def read(look: Look, *, offset: int = 0) -> Reading:
    """Read the pickles of a file, or of a part of one, as data."""
    found: list[Problem] = []
    with look.path.open("rb") as file:
        file.seek(offset)
        try:
            first = _read_one(look, file, found)
            if first.value == MAGIC:
                return _read_legacy(look, file, found)
        except (PickleError, struct.error):
            tail = imposters.find_zero_tail(look)
            return Reading(problems=(*found, tail or problems.torn(look.name, _BREAKS_OFF)))
        if (rest := offset + look.size - file.tell()) and not found:
            found.append(problems.torn(look.name, _REST, count=rest))
    look.tick(look.size)
    return Reading(problems=tuple(found), value=first.value)


def _read_one(look: Look, file: BinaryIO, found: list[Problem]) -> ReadPickle:
    allows_own = look.name.rpartition("/")[2] == OWN_CLASSES_IN
    pickled = read_pickle(file, allows_own_classes=allows_own)
    found += [problems.malicious(look.name, name) for name in (*pickled.dangers, *find_nested(pickled.value))]
    return pickled


def _read_legacy(look: Look, file: BinaryIO, found: list[Problem]) -> Reading:
    _version, _system, pickled, keys = (_read_one(look, file, found) for _ in range(4))
    value = pickled.value
    if found:
        return Reading(problems=tuple(found), value=value)
    places: dict[str, int] = {}
    found += _place_storages(look, file, value, keys.value, places)
    look.tick(look.size)
    tensors = list_tensors(value, places)
    if look.is_deep and not found:
        found += find_not_finite(look, file, tensors)
    return Reading(problems=tuple(found), value=read_scalars(file, value, places), tensors=tensors)


def _place_storages(look: Look, file: BinaryIO, value: Any, keys: Any, places: dict[str, int]) -> Iterator[Problem]:
    """Find where the elements of each storage begin; the last has to end where the file does."""
    storages = list_storages(value)
    at = file.tell()
    for key in keys if isinstance(keys, list) else []:
        storage = storages.get(key) if isinstance(key, str) else None
        file.seek(at)
        count = struct.unpack("<q", file.read(8))[0]
        if storage is None or not storage.width or count != storage.count:
            break
        places[storage.key] = at + 8
        at += 8 + count * storage.width
    if at != file.seek(0, 2) or len(places) != len(storages):
        yield problems.torn(look.name, _STORAGES)
