"""What can be told of a log as a whole: did it train, evaluate, save, resume; is there a traceback; how does it end?

Plain texts, each with its first and last place. Those that a log is full of are looked for where a piece of it begins
and ends; the others come with the search for signals. A fact is never more than a hint.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from laststep.diagnosis import curve, run_facts, waits
from laststep.diagnosis.locate import find_first_rank
from laststep.diagnosis.read_log import Chunk, clean, split_drawn
from laststep.records.verdict import Evidence

_MANY_STEPS = 20
# By name: texts, any of which shows it.
TEXTS: Mapping[str, tuple[bytes, ...]] = {
    "traceback": (b"Traceback (most recent call last)", b"Error: ", b"Exception: ", b"error: ", b"Assertion `"),
    "bar": (b"it/s", b"s/it", b"examples/s"),
    "training": (b"'loss':", b'"loss":', b"Train: ", b"train_loss", b"lm loss", b"Epoch ", b": loss ", b"loss:",
        b"loss=",
    ),
    "preparing": (
        b"Running tokenizer on dataset", b"Map (num_proc", b"Map: ", b"Converting format", b"Generating train split",
        b"Packing", b"num_proc=",
    ),
    "evaluating": (
        b"Val: ", b"Running Evaluation", b"Evaluat", b"in evaluate", b"evaluation_loop", b"prediction_step",
        b"alidation", b"alidating", b"(valid)", b"Sanity Checking",
    ),
    "saving": (
        b"Saving ", b"save_checkpoint", b"save_pretrained", b"in _save", b"is about to be saved",
        b"Writing model shards",
    ),
    "killed": (b"exitcode: -9", b"exit code -9", b"Killed", b"SIGKILL", b"return code = -9"),
    "bar is full": (b"100%|",),
    "finished": (b"train_runtime", b"Training completed"),
    "root cause": (b"Root Cause (first observed failure)",),
    "began": (
        b"run sh: `", b"Setting OMP_NUM_THREADS environment variable for each process", b"Start time of running main",
        b"cmd = ",
    ),
    "ended badly": (b"ChildFailedError", b"exits with return code", b"Killing subprocess"),
    "NaN": (b"'nan'", b": nan", b":nan", b"=nan", b"= nan", b": NaN", b" nan "),
}  # fmt: skip
SELDOM = (
    "traceback",
    "evaluating",
    "saving",
    "killed",
    "bar is full",
    "finished",
    "NaN",
    "root cause",
    "began",
    "ended badly",
)
_IGNORED = b"Exception ignored in"  # by Python, while a program that is done cleans up
_IGNORED_BYTES = 4096  # how far its traceback reaches
_END_BYTES = 64 * 1024
_TAIL_BYTES = 4096
_CURVE_BYTES = 32 * 1024  # before the first NaN
_WARNING = re.compile(rb"(?i)warn")


@dataclass(slots=True)
class _Place:
    """Where a text was seen first and last, in bytes from the begin, and the line of the last."""

    first: int
    last: int
    evidence: Evidence


@dataclass(slots=True)
class FactFinder:
    """Looks through a log once."""

    _offset: int = 0
    _places: dict[str, _Place] = field(default_factory=dict)
    _last_line: Evidence | None = None
    _tail: bytes = b""
    _curve: tuple[str, ...] = ()
    first_rank: int | None = None  # that torchrun saw failing first

    def look(self, chunk: Chunk, hits: Mapping[bytes, tuple[int, int]]) -> None:
        """Look at the next piece. `hits`: where each text of `SELDOM` is seen first and last in it."""
        for name, texts in TEXTS.items():
            places = (
                [hits[text] for text in texts if text in hits] if name in SELDOM else _look_at_ends(chunk.data, texts)
            )
            if name == "traceback":
                places = [place for place in places if not _is_ignored(chunk.data, place)]
            if name == "root cause" and places:
                self.first_rank = find_first_rank(chunk.data, max(last for _, last in places))
            if name == "NaN" and places and name not in self._places:
                self._curve += tuple(_tell_curve(chunk.data, min(places)[0]))
            if name == "training" and places and name not in self._places:
                self._curve += tuple(_tell_beginning(chunk.data, min(places)[0]))
            if places:
                self._note(name, chunk, min(first for first, _ in places), max(last for _, last in places))
        stripped = chunk.data.rstrip()
        if stripped:
            self._last_line = self._quote(chunk, len(stripped) - 1)
        self._offset += len(chunk.data)
        self._tail = (self._tail + chunk.data[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def _note(self, name: str, chunk: Chunk, first: int, last: int) -> None:
        evidence = self._quote(chunk, last)
        if name in self._places:
            self._places[name].last, self._places[name].evidence = self._offset + last, evidence
        else:
            self._places[name] = _Place(self._offset + first, self._offset + last, evidence)

    @property
    def finished_at(self) -> int | None:
        """Where a run last told that it came to its end; something else may have failed behind that."""
        return self._places["finished"].last if "finished" in self._places else None

    @property
    def began_again_at(self) -> int | None:
        """Where the last attempt began, if an earlier one had failed by then."""
        began, ended = self._places.get("began"), self._places.get("ended badly")
        return began.last if began is not None and ended is not None and ended.first < began.last else None

    def finish(self) -> dict[str, Evidence | None]:
        """Give the facts that hold, each with a line that shows it, or None."""
        facts: dict[str, Evidence | None] = {name: place.evidence for name, place in self._places.items()}
        facts["last line"] = self._last_line
        facts.update(dict.fromkeys(self._curve, facts.get("NaN") or facts.get("training")))
        if _WARNING.search(self._tail):
            facts["warned lately"] = self._last_line
        facts.update(dict.fromkeys(name for name, holds in DERIVED.items() if holds(self._places)))
        bar = facts.get("bar")
        if bar is not None:
            facts.update(dict.fromkeys(_read_bar(bar.text), bar))
        return facts

    def _quote(self, chunk: Chunk, position: int) -> Evidence:
        begin = chunk.data.rfind(b"\n", 0, position + 1) + 1
        if begin > position:
            begin = chunk.data.rfind(b"\n", 0, position) + 1
        end = chunk.data.find(b"\n", position)
        parts = split_drawn(clean(chunk.data[begin : end if end >= 0 else len(chunk.data)]))
        line = chunk.first_line + chunk.data.count(b"\n", 0, begin)
        return Evidence(chunk.source, line, parts[-1] if parts else "")


def _tell_curve(data: bytes, position: int) -> Iterator[str]:
    """Tell how the loss came to be NaN, from the lines up to the first one."""
    end = data.find(b"\n", position)
    before = data[max(0, position - _CURVE_BYTES) : end if end >= 0 else len(data)]
    return curve.tell_curve(before.decode("utf-8", "replace"))


def _tell_beginning(data: bytes, position: int) -> Iterator[str]:
    """Tell how the steps begin."""
    return curve.tell_beginning(data[position : position + _CURVE_BYTES].decode("utf-8", "replace"))


def _is_ignored(data: bytes, place: tuple[int, int]) -> bool:
    return data.find(_IGNORED, max(0, place[0] - _IGNORED_BYTES), place[0]) >= 0


def _look_at_ends(data: bytes, texts: Iterable[bytes]) -> list[tuple[int, int]]:
    """Look for texts where a piece of a log begins and where it ends."""
    places = []
    for text in texts:
        first = data.find(text, 0, _END_BYTES)
        last = data.rfind(text, max(0, len(data) - _END_BYTES))
        if first >= 0 or last >= 0:
            places.append((first if first >= 0 else last, last if last >= 0 else first))
    return places


def _read_bar(text: str) -> Iterator[str]:
    """Tell from the last bar how far it had come."""
    match = re.search(r"(\d+)/\d+ \[", text)
    if match is not None:
        yield from ("many steps",) if int(match.group(1)) >= _MANY_STEPS else ()
        yield from ("first step",) if int(match.group(1)) <= 1 else ()
    if re.search(r"\d+:\d\d:\d\d<", text):
        yield "hours"


_Places = Mapping[str, _Place]


def _without(name: str) -> Callable[[_Places], bool]:
    return lambda places: name not in places


def _is_last(name: str, *others: str, same_line: bool = False) -> Callable[[_Places], bool]:
    """Ask whether what is named came last; on one line with another, where a bar tells what it is of and the loss."""

    def ask(places: _Places) -> bool:
        place = places.get(name)
        return place is not None and all(
            place.last >= other.last or (same_line and place.evidence == other.evidence)
            for other in (places[each] for each in others if each in places)
        )

    return ask


DERIVED: Mapping[str, Callable[[_Places], bool]] = {
    "ended in order": _is_last("finished", "traceback", "killed"),
    "no traceback": _without("traceback"),
    "no training": _without("training"),
    "no saving": _without("saving"),
    "progress goes on": _is_last("bar", "traceback", "killed"),
    "steps go on": _is_last("training", "traceback", "killed"),
    "evaluated last": _is_last("evaluating", "training", "preparing", same_line=True),
    "saved last": _is_last("saving", "training", "evaluating"),
    "no step after a save": _is_last("saving", "training", "evaluating", "bar", same_line=True),
    "prepared last": lambda places: "preparing" in places and "training" not in places,
}
NAMES = (
    frozenset({"last line", "warned lately", "many steps", "first step", "hours", *TEXTS, *DERIVED})
    | curve.NAMES
    | run_facts.NAMES
    | waits.NAMES
)
