"""How do random states travel as JSON?

They lie in a file that is copied along with a checkpoint and may come from a stranger, so nothing in it may run:
tuples, bytes, arrays and keys that are no text are written as small marked objects, everything else as it is.
"""

import base64
import sys
from typing import Any

_MARKS = ("tuple", "bytes", "array", "items")


def write_state(value: Any) -> Any:
    """Turn random states into values that JSON knows. Raises TypeError for what states are not made of."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, tuple):
        return {"tuple": [write_state(part) for part in value]}
    if isinstance(value, list):
        return [write_state(part) for part in value]
    if isinstance(value, dict):
        return {"items": [[write_state(key), write_state(part)] for key, part in value.items()]}
    return _write_numbers(value)


def read_state(value: Any) -> Any:
    """Turn it back. Raises ValueError when it was not written by `write_state`."""
    if isinstance(value, list):
        return [read_state(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or next(iter(value)) not in _MARKS:
        raise ValueError("this is no random state")
    mark, content = next(iter(value.items()))
    if mark == "tuple":
        return tuple(read_state(part) for part in content)
    if mark == "bytes":
        return base64.b64decode(content)
    if mark == "items":
        return {read_state(key): read_state(part) for key, part in content}
    kind, shape, data = content
    numpy = sys.modules["numpy"]
    if numpy.dtype(kind).hasobject:
        raise ValueError("an array of objects is no random state")
    return numpy.frombuffer(base64.b64decode(data), dtype=kind).reshape(shape).copy()


def _write_numbers(value: Any) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return {"array": [value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode("ascii")]}
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} is no part of a random state")
