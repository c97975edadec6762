"""What happens when one file of a save cannot be written?

The failure ends at that file: it is noted, the checkpoint is marked as not whole, and the save goes on, so that every
rank walks every collective. Errors that are not about the place a file is written to go where they always went.
"""

import contextlib
import functools
import os
from typing import Any, Callable, Dict, Optional, Tuple

from laststep_guard.guardian import Guardian
from laststep_guard.guards.failed_writes import tell_failed_write
from laststep_guard.wire import INCOMPLETE_MARKER

Write = Callable[..., Any]


def forgiving(original: Write, guardian: Guardian, name_file: Callable[..., Any]) -> Write:
    """Give a function that writes files and, during a save, returns None where they could not be written.

    `name_file` gets the same arguments and tells which file or folder it was.
    """
    note = guardian.shield.wrap("note a failed write", note_failed_write)
    return catching(
        original,
        functools.partial(tell_reason, guardian),
        lambda reason, args, kwargs: note(guardian, reason, lambda: name_file(*args, **kwargs)),
    )


def catching(
    original: Write,
    tell: Callable[[BaseException], Optional[str]],
    note: Callable[[str, Tuple[Any, ...], Dict[str, Any]], None],
) -> Write:
    """Give a function that returns None where `tell` gives a reason for its error, which is then noted."""

    def write(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except BaseException as error:  # `tell` knows which; a CheckpointException of torch is no Exception
            reason = tell(error)
            if reason is None:
                raise
            note(reason, args, kwargs)
            return None

    return write


def tell_reason(guardian: Guardian, error: BaseException) -> Optional[str]:
    """Tell why a file of a save could not be written; None when that is not what the error is about."""
    if not guardian.state.is_saving or guardian.state.save is None:
        return None
    reason = tell_failed_write(error)
    if reason is None and guardian.state.save.has_failed and isinstance(error, (OSError, RuntimeError)):
        reason = str(error)[:200]  # a folder that could not be made, and what should have gone into it
    return reason


def note_failed_write(guardian: Guardian, reason: str, name_file: Callable[[], Any]) -> None:
    """Note that the save of this moment is not whole."""
    save = guardian.state.save
    if save is None or save.has_failed:
        return  # the first one tells the story
    save.reason = reason
    with contextlib.suppress(TypeError):  # called otherwise than known: a name is worth less than the note
        file = name_file()
        save.failed_file = os.fsdecode(file) if isinstance(file, (str, bytes, os.PathLike)) else None
    mark_incomplete(save.path, reason)


def mark_incomplete(path: str, reason: Optional[str]) -> None:
    """Mark a checkpoint as not whole. The name says it, should there be no room for words."""
    with contextlib.suppress(OSError), open(os.path.join(path, INCOMPLETE_MARKER), "w", encoding="utf-8") as file:
        file.write(f"laststep: a file of this checkpoint could not be written: {reason}\n")
