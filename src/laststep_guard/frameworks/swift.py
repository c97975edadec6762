"""What does ms-swift call a row, and how does a person recognise it?"""

from types import ModuleType
from typing import Any, Optional

from laststep_guard.guardian import Guardian

_LONGEST_EXCERPT = 60  # characters of the row's first text


def name_rows(_module: ModuleType, guardian: Guardian) -> None:
    """Let rows be named by their place in the loaded data and their first words."""
    guardian.state.describe_row = describe_row


def describe_row(dataset: Any, index: Any) -> Optional[str]:
    """Describe a row, as `record 38: "find picture number 38"`; None when the data set holds no such row.

    A record is counted as it was loaded, from 1, before ms-swift shuffled and split the data.
    """
    raw = getattr(dataset, "dataset", dataset)
    row = raw[index]
    if not isinstance(row, dict):
        return None
    record = _place_in_loaded_data(raw, index) + 1
    excerpt = _first_text(row)
    without = [name for name in ("positive", "negative") if f"{name}_messages" in row and not row[f"{name}_messages"]]
    note = f" (no {' and no '.join(without)} documents)" if without else ""
    return f'record {record}: "{excerpt}"{note}' if excerpt else f"record {record}{note}"


def _place_in_loaded_data(raw: Any, index: int) -> int:
    indices = getattr(raw, "_indices", None)  # datasets keeps a shuffled or split view as a table of places
    return int(indices.column(0)[index].as_py()) if indices is not None else int(index)


def _first_text(row: Any) -> str:
    for message in row.get("messages") or ():
        content = message.get("content")
        if isinstance(content, str) and content.strip():
            text = " ".join(content.split())
            return text if len(text) <= _LONGEST_EXCERPT else text[:_LONGEST_EXCERPT] + "…"
    return ""
