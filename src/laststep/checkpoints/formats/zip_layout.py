"""Where in a zip file does everything lie?

From PKWARE's APPNOTE.TXT and torch's caffe2/serialize/inline_container.cc, which stores entries without compression,
pads their extra field so that data is aligned, and puts a descriptor behind the data. Readers differ in which of two
contradicting descriptions they believe, so here all of them have to agree, and every byte has to belong to something.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from laststep.records.text import Text

CHUNK = 1 << 20
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64 = struct.Struct("<4sIQI")
_DESCRIBED_LATER = 0x08  # flag: sizes and checksum stand behind the data
_IN_EXTRA = 0xFFFFFFFF  # the value is in the zip64 extra field
MOST_ENTRIES = 5_000_000

_NO_END = Text(en="the directory at its end is gone: it was cut off", zh="末尾的目录不见了：文件被截断")
_BAD_END = Text(en="the directory at its end does not fit the file", zh="末尾的目录与文件不符")
_BAD_ENTRY = Text(en="entry {name!r} and the directory contradict each other", zh="条目 {name!r} 与目录矛盾")
_GAP = Text(en="the bytes before byte {at:,} belong to nothing", zh="第 {at:,} 字节之前有不属于任何条目的内容")
_TWICE = Text(en="{name!r} is in it twice", zh="{name!r} 重复出现")


class ZipError(ValueError):
    """The layout contradicts itself."""

    def __init__(self, how: Text) -> None:
        super().__init__(how.en)
        self.how = how


@dataclass(frozen=True, slots=True, kw_only=True)
class ZipEntry:
    """One file within; `begin` counts from the start of the archive."""

    name: str
    begin: int
    size: int
    checksum: int
    head: tuple[int, ...]  # what all entries of one writer have in common

    @property
    def end(self) -> int:
        return self.begin + self.size


def read_layout(file: BinaryIO, *, offset: int, size: int) -> tuple[ZipEntry, ...]:
    """Read the directory and hold every entry against it."""
    count, start, length = _read_end(file, offset, size)
    file.seek(offset + start)
    directory = file.read(length)
    entries = []
    at, begin = 0, 0
    for _ in range(count):
        head, name, extra, where, at = _read_central(directory, at)
        if where != begin:
            raise ZipError(_GAP.fill(at=where))
        entry, begin = _read_entry(file, offset + where, name, head, extra)
        begin -= offset
        entries.append(entry)
    if at != length or begin != start:
        raise ZipError(_BAD_END)
    _check_alike(entries)
    return tuple(entries)


def find_changed_entry(
    file: BinaryIO, entries: tuple[ZipEntry, ...], tick: Callable[[int], None]
) -> Iterator[ZipEntry]:
    """Give the entries whose data does not have the checksum that was written with it."""
    for entry in entries:
        file.seek(entry.begin)
        left, checksum = entry.size, 0
        while left > 0 and (chunk := file.read(min(CHUNK, left))):
            checksum = zlib.crc32(chunk, checksum)
            left -= len(chunk)
            tick(len(chunk))
        if checksum != entry.checksum or left:
            yield entry


def _read_end(file: BinaryIO, offset: int, size: int) -> tuple[int, int, int]:
    """Give the count of entries, and where the directory begins and how long it is."""
    if size < _END.size:
        raise ZipError(_NO_END)
    file.seek(offset + size - _END.size)
    sign, disk, first, here, count, length, start, comment = _END.unpack(file.read(_END.size))
    if sign != b"PK\x05\x06":
        raise ZipError(_NO_END)
    end = size - _END.size
    end64 = _read_end64(file, offset, end)
    if end64 is not None:
        plain = (here, count, length, start)
        here, count, length, start, end = end64
        if any(
            value not in (large, most)
            for value, large, most in zip(
                plain, (here, count, length, start), (0xFFFF, 0xFFFF, _IN_EXTRA, _IN_EXTRA), strict=True
            )
        ):
            raise ZipError(_BAD_END)
    if disk or first or comment or here != count or start + length != end or count > MOST_ENTRIES:
        raise ZipError(_BAD_END)
    return count, start, length


def _read_end64(file: BinaryIO, offset: int, end: int) -> tuple[int, int, int, int, int] | None:
    if end < _LOCATOR64.size + _END64.size:
        return None
    file.seek(offset + end - _LOCATOR64.size)
    sign, disk, start, disks = _LOCATOR64.unpack(file.read(_LOCATOR64.size))
    if sign != b"PK\x06\x07":
        return None
    at = end - _LOCATOR64.size - _END64.size
    file.seek(offset + at)
    sign, length, *versions, this, first, here, count, size, begin = _END64.unpack(file.read(_END64.size))
    del versions
    if sign != b"PK\x06\x06" or length != _END64.size - 12 or start != at or disk or disks > 1 or this or first:
        raise ZipError(_BAD_END)
    return here, count, size, begin, at


def _read_central(directory: bytes, at: int) -> tuple[tuple[int, ...], bytes, bytes, int, int]:
    """Give (head, name, sizes, place, where the next begins); head: versions, flags, method, time, date, attributes."""
    if at + _CENTRAL.size > len(directory):
        raise ZipError(_BAD_END)
    sign, *fields, checksum, packed, size, names, extras, notes, disk, inner, outer, where = _CENTRAL.unpack_from(
        directory, at
    )
    at += _CENTRAL.size
    name, extra = directory[at : at + names], directory[at + names : at + names + extras]
    if sign != b"PK\x01\x02" or notes or disk or len(extra) != extras or not _is_padding(extra):
        raise ZipError(_BAD_END)
    size, packed, where = _widen(extra, (size, packed, where))
    if packed != size:
        raise ZipError(_BAD_ENTRY.fill(name=name.decode("utf-8", "replace")))
    sizes = struct.pack("<IQ", checksum, size)
    return (*fields, inner, outer), name, sizes, where, at + names + extras


def _widen(extra: bytes, values: tuple[int, ...]) -> tuple[int, ...]:
    """Take values that do not fit 32 bits out of the zip64 field."""
    large: list[int] = []
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1:
            large = list(struct.unpack_from(f"<{length // 8}Q", extra, 4)) if len(extra) >= 4 + length else []
        extra = extra[4 + length :]
    if len(large) < sum(value == _IN_EXTRA for value in values):
        raise ZipError(_BAD_END)
    return tuple(large.pop(0) if value == _IN_EXTRA else value for value in values)


def _read_entry(file: BinaryIO, where: int, name: bytes, head: tuple[int, ...], sizes: bytes) -> tuple[ZipEntry, int]:
    """Hold the header before the data and the descriptor behind it against the directory; give where they end."""
    shown = name.decode("utf-8", "replace")
    wrong = ZipError(_BAD_ENTRY.fill(name=shown))
    checksum, size = struct.unpack("<IQ", sizes)
    file.seek(where)
    start = file.read(_LOCAL.size)
    if len(start) < _LOCAL.size:
        raise wrong
    sign, version, flags, method, time, date, crc, packed, full, names, extras = _LOCAL.unpack(start)
    named, extra = file.read(names), file.read(extras)
    if sign != b"PK\x03\x04" or named != name or (version, flags, method, time, date) != head[1:6] or method:
        raise wrong
    if not _is_padding(extra):
        raise wrong
    begin = where + _LOCAL.size + names + extras
    entry = ZipEntry(name=shown, begin=begin, size=size, checksum=checksum, head=head)
    if not flags & _DESCRIBED_LATER:
        if crc != checksum or not {packed, full} <= {size, _IN_EXTRA}:
            raise wrong
        return entry, entry.end
    if (crc, packed, full) not in {(0, 0, 0), (0, _IN_EXTRA, _IN_EXTRA), (checksum, size, size)}:
        raise wrong
    return entry, entry.end + _descriptor_length(file, entry, wrong)


def _is_padding(extra: bytes) -> bool:
    """Tell whether an extra field is torch's padding, FB and then Zs, or the zip64 field."""
    while extra:
        if len(extra) < 4:
            return False
        kind, length = extra[:2], int.from_bytes(extra[2:4], "little")
        body, extra = extra[4 : 4 + length], extra[4 + length :]
        if len(body) != length or (kind == b"FB" and body.strip(b"Z")):
            return False
        if kind not in {b"FB", b"\x01\x00"}:
            return False
    return True


def _descriptor_length(file: BinaryIO, entry: ZipEntry, wrong: ZipError) -> int:
    file.seek(entry.end)
    behind = file.read(24)
    for form in ("<4sI2I", "<4sI2Q"):  # the latter for what is larger than 4 GiB
        length = struct.calcsize(form)
        if len(behind) >= length:
            expected = (b"PK\x07\x08", entry.checksum, entry.size, entry.size)
            if struct.unpack_from(form, behind) == expected:
                return length
    raise wrong


def _check_alike(entries: list[ZipEntry]) -> None:
    """Refuse a name that is there twice, and an entry that another writer seems to have made."""
    seen: set[str] = set()
    heads: dict[bool, tuple[int, ...]] = {}  # torch marks what is empty otherwise
    for entry in entries:
        if entry.name in seen:
            raise ZipError(_TWICE.fill(name=entry.name))
        seen.add(entry.name)
        if entry.head != heads.setdefault(entry.size > 0, entry.head):
            raise ZipError(_BAD_ENTRY.fill(name=entry.name))
