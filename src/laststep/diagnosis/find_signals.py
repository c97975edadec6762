"""Which signals of which causes are in a log, and where?

All plain texts that signals need are searched for at once; only lines that hold one are given to the expressions.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import ahocorasick_rs

from laststep.diagnosis import waits
from laststep.diagnosis.facts import SELDOM, TEXTS, FactFinder
from laststep.diagnosis.find_command import LAUNCHERS, CommandFinder
from laststep.diagnosis.literals import find_literals
from laststep.diagnosis.locate import locate
from laststep.diagnosis.read_log import Chunk, clean, split_drawn
from laststep.failures.failure import Failure, Signal
from laststep.records.verdict import Evidence

_MOST_EVIDENCE = 3  # of one signal
_COMMAND, _WAIT = -1, -2  # in the place of a signal's number
_LONG_CHUNKS = 4  # from here on a log is long
_SAMPLE = re.compile(r"\[(?:INPUT|LABELS)(?:_IDS)?\]")  # the text of a row, as ms-swift shows it
_MOST_LOOKS = 400  # at lines for one text in one piece of a log; a million alike say nothing more


@dataclass(slots=True)
class Sighting:
    """A signal that was seen."""

    signal: Signal
    first: int  # the position of the line in the input: the number of its byte
    last: int = 0
    count: int = 0
    evidence: list[Evidence] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that was seen in an input. Sightings by cause and by the signal's name."""

    sightings: Mapping[str, Mapping[str, Sighting]]
    facts: Mapping[str, Evidence | None]  # by name; with a line that shows it, where one does
    finished_at: int | None = None  # the position of the last word of a run that came to its end
    began_again_at: int | None = None  # the position where the last attempt began, if an earlier one had failed
    first_rank: int | None = None  # the rank that failed first, where a launcher says so
    commands: tuple[Evidence, ...] = ()  # lines that look like the command itself, as in a pasted question
    launched: str = ""  # the command that a launcher says it starts


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is looked at: its first byte within the piece, its number and log, what was drawn in it."""

    begin: int
    number: int
    parts: list[str]
    source: str
    data: bytes  # the piece


_Found = dict[str, dict[str, Sighting]]


class SignalIndex:
    """All signals of all causes, ready to be searched for. Made once."""

    def __init__(self, failures: Iterable[Failure]) -> None:
        self._lines: list[tuple[str, Signal]] = []
        by_text: dict[str, list[int]] = {text: [_COMMAND] for text in LAUNCHERS}
        for text in (text.decode() for name in SELDOM for text in TEXTS[name]):
            by_text.setdefault(text, [])
        by_text.setdefault(waits.TEXT, []).append(_WAIT)
        for failure in failures:
            for signal in failure.signal:
                if signal.line is not None:
                    for text in find_literals(signal.line):
                        by_text.setdefault(text, []).append(len(self._lines))
                    self._lines.append((failure.id, signal))
        self._texts = [text.encode() for text in by_text]
        self._signals_of = list(by_text.values())
        self._automaton = ahocorasick_rs.BytesAhoCorasick(self._texts)

    def search(self, chunks: Iterable[Chunk]) -> Seen:
        """Search logs from their beginning to their end."""
        found: _Found = {}
        facts, commands, waiting = FactFinder(), CommandFinder(), waits.WaitFinder()
        offset = 0
        for number, chunk in enumerate(chunks):
            if number == _LONG_CHUNKS:  # worth the time that it takes to build: it searches twice as fast
                dfa = ahocorasick_rs.Implementation.DFA
                self._automaton = ahocorasick_rs.BytesAhoCorasick(self._texts, implementation=dfa)
            places, lines = self._search_texts(chunk.data)
            facts.look(chunk, places)
            for line in _read_lines(chunk, sorted(lines)):
                for signal in sorted(lines[line.begin] - {_COMMAND, _WAIT}):
                    self._try(signal, line, offset, found)
                if _WAIT in lines[line.begin]:
                    waiting.look(line.parts, line.source, line.number)
                if _COMMAND in lines[line.begin]:
                    commands.look(chunk, line.begin, line.number)
            offset += len(chunk.data)
        return Seen(
            found,
            facts.finish() | waiting.finish(),
            finished_at=facts.finished_at,
            began_again_at=facts.began_again_at,
            first_rank=facts.first_rank,
            commands=tuple(commands.commands),
            launched=commands.launched,
        )

    def _search_texts(self, data: bytes) -> tuple[Mapping[bytes, tuple[int, int]], Mapping[int, set[int]]]:
        """Give where each text is first and last, and the beginnings of lines with the signals to be tried there."""
        first, last = dict[int, int](), dict[int, int]()
        looks, lines = [0] * len(self._texts), dict[int, set[int]]()
        for number, begin, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            first.setdefault(number, begin)
            last[number] = begin
            if self._signals_of[number] and looks[number] < _MOST_LOOKS:
                looks[number] += 1
                lines.setdefault(data.rfind(b"\n", 0, begin) + 1, set()).update(self._signals_of[number])
        return {self._texts[number]: (place, last[number]) for number, place in first.items()}, lines

    def _try(self, number: int, line: _Line, offset: int, found: _Found) -> None:
        cause, signal = self._lines[number]
        expression = _compile(signal.line or "")
        part = next((part for part in reversed(line.parts) if expression.search(_SAMPLE.split(part, 1)[0])), None)
        if part is None:
            return
        sightings = found.setdefault(cause, {})
        sighting = sightings.setdefault(signal.name, Sighting(signal, offset + line.begin))
        sighting.count += 1
        sighting.last = offset + line.begin
        if len(sighting.evidence) < _MOST_EVIDENCE:
            sighting.evidence.append(Evidence(line.source, line.number, part, locate(line.data, line.begin, part)))


def _read_lines(chunk: Chunk, begins: Iterable[int]) -> Iterator[_Line]:
    """Read the lines that are to be looked at, in order."""
    number, counted = chunk.first_line, 0
    for begin in begins:
        number += chunk.data.count(b"\n", counted, begin)
        counted = begin
        end = chunk.data.find(b"\n", begin)
        parts = split_drawn(clean(chunk.data[begin : end if end >= 0 else len(chunk.data)]))
        yield _Line(begin, number, parts, chunk.source, chunk.data)


@functools.cache
def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression)  # only those that a text of the log asks for


@functools.cache
def make_index(failures: tuple[Failure, ...]) -> SignalIndex:
    return SignalIndex(failures)
