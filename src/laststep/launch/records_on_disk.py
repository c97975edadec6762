"""How does the holder leave a record without ever failing over it?"""

import json
import os
from typing import Any


def write_json(path: str | None, values: dict[str, Any]) -> bool:
    """Write a file whole or not at all; on a full or read-only disk, not at all. Tells whether it was written."""
    if path is None:
        return False
    beside = f"{path}.new"
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(values, file)
        os.replace(beside, path)
    except OSError:
        return False
    return True
