"""Is a JSON file whole?"""

import json
import re
from typing import Any

from laststep.checkpoints import problems
from laststep.checkpoints.contents import Reading
from laststep.checkpoints.formats import imposters
from laststep.checkpoints.formats.look import Look
from laststep.records.checkpoint import ProblemKind
from laststep.records.text import Text

LARGEST = 256 << 20  # tokenizer.json of 30 MB are common; anything beyond this is not read
_TOO_LARGE = Text(
    en="{size:,} bytes of JSON are more than a checkpoint has", zh="{size:,} 字节的 JSON 超出检查点应有的大小"
)
_ENDS_EARLY = Text(en="it ends in the middle, after {size:,} bytes", zh="内容在 {size:,} 字节后中断")
_NO_TEXT = Text(en="byte {at:,} is not UTF-8", zh="第 {at:,} 字节不是 UTF-8")
_NO_JSON = Text(en="no JSON from line {line}, column {column}", zh="自第 {line} 行第 {column} 列起不是 JSON")
_TWICE = Text(en="{name!r} is in it twice", zh="{name!r} 重复出现")
_TOO_DEEP = Text(en="it is nested too deeply", zh="嵌套过深")
_LOST = re.compile(rb"\x00{8,}")  # a single one is a flipped bit, and no JSON


class _TwiceError(ValueError):
    """A name stands twice in one object."""


def recognises(name: str) -> bool:
    return name.endswith(".json")


def read(look: Look) -> Reading:
    """Read a JSON file; one that is cut off, has zeros in it or says a thing twice is torn."""
    if look.size > LARGEST:
        return _problem(look, _TOO_LARGE.fill(size=look.size))
    data = look.path.read_bytes()
    look.tick(len(data))
    lost = _LOST.search(data)
    if lost is not None:
        return Reading(problems=(imposters.zeros(look.name, len(lost[0]), lost.start()),))
    try:
        return Reading(value=json.loads(data.decode("utf-8"), object_pairs_hook=_take_once))
    except (RecursionError, ValueError) as error:
        return _problem(look, _explain(error, data))


def _explain(error: RecursionError | ValueError, data: bytes) -> Text:
    match error:
        case UnicodeDecodeError():
            return _NO_TEXT.fill(at=error.start)
        case json.JSONDecodeError() if not data[error.pos :].strip():
            return _ENDS_EARLY.fill(size=len(data))
        case json.JSONDecodeError():
            return _NO_JSON.fill(line=error.lineno, column=error.colno)
        case _TwiceError():
            return _TWICE.fill(name=str(error))
    return _TOO_DEEP  # or an integer of more digits than Python reads


def _problem(look: Look, how: Text) -> Reading:
    kind = ProblemKind.UNREADABLE if look.size > LARGEST else ProblemKind.TORN
    return Reading(problems=(problems.report(kind, look.name, problems.TORN, how=how),))


def _take_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    taken = dict(pairs)
    if len(taken) != len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return taken
