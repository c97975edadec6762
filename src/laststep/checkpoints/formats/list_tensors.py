"""Which tensors does a pickle of torch speak of?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from laststep.checkpoints.contents import TensorPlace
from laststep.checkpoints.formats.pickle_values import Built, Global, Persistent

# Names of storage classes, or of types behind an untyped storage, as safetensors calls the types, with their widths.
_TYPES = {
    "FloatStorage": ("F32", 4), "DoubleStorage": ("F64", 8), "HalfStorage": ("F16", 2), "BFloat16Storage": ("BF16", 2),
    "ByteStorage": ("U8", 1), "CharStorage": ("I8", 1), "ShortStorage": ("I16", 2), "IntStorage": ("I32", 4),
    "LongStorage": ("I64", 8), "BoolStorage": ("BOOL", 1), "ComplexFloatStorage": ("C64", 8),
    "ComplexDoubleStorage": ("C128", 16), "UntypedStorage": ("U8", 1),
    "float8_e4m3fn": ("F8_E4M3", 1), "float8_e5m2": ("F8_E5M2", 1), "float8_e4m3fnuz": ("F8_E4M3FNUZ", 1),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 1), "float32": ("F32", 4), "float64": ("F64", 8), "float16": ("F16", 2),
    "bfloat16": ("BF16", 2), "uint8": ("U8", 1), "int8": ("I8", 1), "int16": ("I16", 2), "int32": ("I32", 4),
    "int64": ("I64", 8), "bool": ("BOOL", 1), "uint16": ("U16", 2), "uint32": ("U32", 4), "uint64": ("U64", 8),
}  # fmt: skip
_REBUILDERS = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """A run of elements outside the pickle; a width of 0 is not known."""

    key: str
    dtype: str
    width: int
    count: int


def list_storages(value: Any) -> dict[str, Storage]:
    """Give the storages by their keys."""
    found = (read_storage(item) for _, item in walk(value) if isinstance(item, Persistent))
    return {storage.key: storage for storage in found if storage is not None}


def list_tensors(value: Any, places: Mapping[str, int]) -> dict[str, TensorPlace]:
    """Give where the elements of each tensor lie in the file, by the path of names that leads to it."""
    found: dict[str, TensorPlace] = {}
    for name, item in walk(value):
        place = read_tensor(item, places)
        if place is not None:
            found[name] = place
    return found


def read_storage(item: Persistent) -> Storage | None:
    match item.identity:
        case ("storage", Global() as kind, str(key), _, int(count), *_) if count >= 0:
            dtype, width = _TYPES.get(kind.name, ("?", 0))
            return Storage(key=key, dtype=dtype, width=width, count=count)
    return None


def read_tensor(item: Any, places: Mapping[str, int]) -> TensorPlace | None:
    """Read how a tensor is put together: storage, offset, sizes and strides."""
    if not isinstance(item, Built) or item.made_by.module != "torch._utils" or item.made_by.name not in _REBUILDERS:
        return None
    match item.arguments:
        case (Persistent() as outside, int(offset), tuple(shape), tuple(strides), *rest):
            storage = read_storage(outside)
        case _:
            return None
    if storage is None or storage.key not in places or len(shape) != len(strides):
        return None
    dtype, width = storage.dtype, storage.width
    if item.made_by.name == "_rebuild_tensor_v3":  # an untyped storage, and the type among the arguments
        named = next((part.name for part in rest if isinstance(part, Global) and part.name in _TYPES), "?")
        dtype, width = _TYPES.get(named, ("?", 0))
    if not all(type(part) is int and part >= 0 for part in (offset, *shape, *strides)) or not width:
        return None
    # From the first to the last element; what lies in a storage beyond its tensors was never initialised, maybe.
    length = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if all(shape) else 0
    begin = places[storage.key] + offset * width
    return TensorPlace(dtype=dtype, shape=shape, begin=begin, end=begin + length * width)


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Give every value within, once, with the path of names that leads there."""
    seen: set[int] = set()
    waiting = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict | list | tuple | set | frozenset | Built | Persistent):
            if id(item) in seen:
                continue
            seen.add(id(item))
        yield path, item
        waiting.extend(_parts(path, item))


def _parts(path: str, item: Any) -> Iterator[tuple[str, Any]]:
    start = f"{path}." if path else ""
    if isinstance(item, dict):
        yield from ((f"{start}{key}", part) for key, part in item.items())
    elif isinstance(item, list | tuple | set | frozenset):
        yield from ((f"{start}{index}", part) for index, part in enumerate(item))
    elif isinstance(item, Persistent):
        yield path, item.identity
    elif isinstance(item, Built):
        yield from ((path, part) for part in (item.arguments, item.state, item.items, item.entries) if part)
