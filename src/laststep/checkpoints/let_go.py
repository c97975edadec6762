"""How does a checkpoint go that the user's own limit lets go of?"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from laststep_guard.wire import INCOMPLETE_MARKER

_OURS = "laststep:"  # how the guard begins its text


def let_go_of(older: Iterable[str], *, newer: Path) -> list[Path]:
    """Remove checkpoints that lie beside a sound newer one; gives those that are gone. Anything else stays."""
    gone = []
    for path in (Path(name) for name in older):
        is_beside = path.parent == newer.parent and path != newer
        if is_beside and re.fullmatch(r"checkpoint-\d+", path.name) and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
            if not path.exists():
                gone.append(path)
    return gone


def unmark(path: Path) -> None:
    """Take back the guard's mark of an earlier save to the same folder, once all of it was written again."""
    marker = path / INCOMPLETE_MARKER
    try:
        text = marker.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if not text or text.startswith(_OURS):  # empty: there was no room for words
        marker.unlink(missing_ok=True)
