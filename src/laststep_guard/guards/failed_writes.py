"""Did a file fail to be written because of the place it was written to?

A full disk and its relatives pass, and the training can wait for that; a wrong argument does not. torch and safetensors
hide the number of the error in their texts, or lose it.
"""

import errno
import os
import re
import shutil
from typing import Iterator, Optional

_NUMBERS = frozenset(
    getattr(errno, name)
    for name in (
        "ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "ESTALE", "ETIMEDOUT", "ENXIO", "ENODEV", "ENOTCONN", "EREMOTEIO",
        "EHOSTDOWN", "EHOSTUNREACH", "ENETUNREACH", "ENOLCK",
    )
    if hasattr(errno, name)
)  # fmt: skip
_NUMBER_IN_TEXT = re.compile(r"\(os error (\d+)\)")  # as Rust's std::io::Error puts it: safetensors, tokenizers
# torch/csrc: inline_container.cc loses what its stream met; the legacy format names it in words.
_TORCH_TEXTS = ("iostream error", "inline_container", "PytorchStreamWriter", "write(): fd")


def tell_failed_write(error: BaseException) -> Optional[str]:
    """Say what kept a file from being written, as `No space left on device`; None for any other error."""
    if not isinstance(error, Exception):
        return None  # somebody wants to leave
    for link in _chain(error):
        number = link.errno if isinstance(link, OSError) else _find_number(str(link))
        if number in _NUMBERS:
            return os.strerror(int(number or 0))
    is_torch = isinstance(error, RuntimeError) and any(text in str(error) for text in _TORCH_TEXTS)
    return "torch could not write its file" if is_torch else None


def read_free_bytes(path: str) -> Optional[int]:
    """Tell how much room there is where a path lies or would lie."""
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Go from an error to what it was raised from, a few links at most."""
    link: Optional[BaseException] = error
    for _ in range(5):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _find_number(text: str) -> Optional[int]:
    match = _NUMBER_IN_TEXT.search(text)
    return int(match.group(1)) if match else None
