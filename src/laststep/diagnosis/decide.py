"""Which cause do the signals speak for?

Signals give evidence, evidence gives causes. A cause that explains another sets it aside, a contradiction takes
certainty away, and what libraries print as advice counts for nothing. The score is a sum that a person can follow.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from laststep.diagnosis.find_signals import Seen, Sighting
from laststep.failures.failure import Failure, Role, Signal
from laststep.records.verdict import Certainty, Evidence

_PROOF, _FURTHER_PROOF, _HINT, _CONTRADICTION = 1.0, 0.25, 0.3, -0.6
_MOST_BY_HINTS = 0.9  # without a proof nothing is more than likely
_EARLIEST = 0.15  # the first failure outranks the loudest
_SYMPTOM = 0.4  # what is left of a cause that another one explains
_EXPLAINS_FROM = 0.75
LEAST = 0.3  # what says less says nothing
_LEAST_BY_HINTS = 0.5  # one hint is in many a healthy log
_COMMAND = "command"
_FAR, _LATER = 1 << 62, 1 << 50


@dataclass(frozen=True, slots=True)
class Weighed:
    """A cause with what speaks for it."""

    failure: Failure
    score: float
    has_proof: bool
    first: int  # where it is first seen, that of ranks which failed later behind all others
    evidence: tuple[Evidence, ...]
    last: int = _FAR  # where it is last seen, if that is a place in a log

    @property
    def says_something(self) -> bool:
        return self.score >= (LEAST if self.has_proof else _LEAST_BY_HINTS)

    @property
    def confidence(self) -> float:
        return round(min(0.98, 1 - 0.25**self.score), 2) if self.score > 0 else 0.0

    @property
    def certainty(self) -> Certainty:
        if self.has_proof:
            return Certainty.PROVEN if self.score >= _PROOF + _FURTHER_PROOF else Certainty.LIKELY
        return Certainty.POSSIBLE if self.score >= LEAST else Certainty.UNKNOWN


def decide(failures: Iterable[Failure], seen: Seen, command: str) -> list[Weighed]:
    """Weigh every cause; the likeliest first, those that nothing speaks for left out."""
    weighed = [one for failure in failures if (one := _weigh(failure, seen, command)) is not None]
    earliest = min((one.first for one in weighed if one.has_proof), default=_FAR)
    weighed = [_add(one, _EARLIEST if one.has_proof and one.first == earliest else 0.0) for one in weighed]
    symptoms = {
        name
        for one in weighed
        if one.score >= _EXPLAINS_FROM
        for name in one.failure.explains
        if name != one.failure.id
    }
    weighed = [_scale(one, _SYMPTOM) if one.failure.id in symptoms else one for one in weighed]
    return sorted(weighed, key=lambda one: (-one.score, one.first))


def _weigh(failure: Failure, seen: Seen, command: str) -> Weighed | None:
    shown = _list_shown(failure, seen, command)
    holding = [signal for signal in failure.signal if signal.name in shown and set(signal.needs) <= set(shown)]
    proofs = [signal for signal in holding if signal.role is Role.PROOF]
    others = [signal for signal in holding if signal.role in (Role.HINT, Role.CONTRADICTION)]
    if not proofs and not any(signal.role is Role.HINT for signal in others):
        return None
    score = sum(signal.weight or (_FURTHER_PROOF if place else _PROOF) for place, signal in enumerate(proofs))
    by_hints = sum(signal.weight or _HINT for signal in others if signal.role is Role.HINT)
    score += by_hints if proofs else min(by_hints, _MOST_BY_HINTS)
    score += sum(signal.weight or _CONTRADICTION for signal in others if signal.role is Role.CONTRADICTION)
    evidence = _gather_evidence([*proofs, *(s for s in others if s.role is Role.HINT)], shown)
    sightings = [sighting for sighting in seen.sightings.get(failure.id, {}).values() if sighting.signal in holding]
    first = min((_order(sighting, seen.first_rank) for sighting in sightings), default=_FAR)
    last = _FAR if any(signal.fact for signal in proofs) else max((one.last for one in sightings), default=_FAR)
    return Weighed(failure, score, bool(proofs), first, evidence, last)


def _order(sighting: Sighting, first_rank: int | None) -> int:
    """Give where a signal was first seen; that of a rank which did not fail first comes behind."""
    ranks = {one.where.rank for one in sighting.evidence if one.where is not None}
    is_later = first_rank is not None and None not in ranks and first_rank not in ranks
    return sighting.first + (_LATER if is_later else 0)


def _list_shown(failure: Failure, seen: Seen, command: str) -> Mapping[str, list[Evidence]]:
    """List the signals of a cause that are there, by name, with their evidence."""
    sightings = seen.sightings.get(failure.id, {})
    if _is_over(failure, sightings, seen):
        return {}
    shown: dict[str, list[Evidence]] = {}
    for signal in failure.signal:
        evidence = _look(signal, sightings, seen, command)
        if evidence is not None:
            shown[signal.name] = evidence
    return shown


def _is_over(failure: Failure, sightings: Mapping[str, Sighting], seen: Seen) -> bool:
    """Say whether what was seen of a cause that ends runs is older than the end of one that finished."""
    if failure.goes_on or seen.finished_at is None:
        return False
    return all(sighting.last < seen.finished_at for sighting in sightings.values())


def _look(signal: Signal, sightings: Mapping[str, Sighting], seen: Seen, command: str) -> list[Evidence] | None:
    if signal.line is not None:
        return sightings[signal.name].evidence if signal.name in sightings else None
    if signal.command is not None:
        if command:
            match = re.search(signal.command, command)
            return [Evidence(_COMMAND, None, match.group())] if match is not None else None
        told = ((re.search(signal.command, line.text), line) for line in seen.commands)
        return [_quote(line, match) for match, line in told if match is not None] or None
    if signal.fact is not None and signal.fact in seen.facts:
        evidence = seen.facts[signal.fact]
        return [evidence] if evidence is not None and evidence.text else []
    return None


def _quote(command: Evidence, match: re.Match[str]) -> Evidence:
    line = (command.line or 1) + command.text.count("\n", 0, match.start())
    return Evidence(command.source, line, match.group())


def _gather_evidence(signals: Iterable[Signal], shown: Mapping[str, list[Evidence]]) -> tuple[Evidence, ...]:
    lines = [evidence for signal in signals for evidence in shown[signal.name][:2] if evidence.text.strip()]
    # What an error says tells a reader more than the line of code that raised it.
    return tuple(sorted(dict.fromkeys(lines), key=lambda evidence: evidence.text.startswith("raise ")))[:6]


def _add(one: Weighed, more: float) -> Weighed:
    return replace(one, score=one.score + more)


def _scale(one: Weighed, share: float) -> Weighed:
    return replace(one, score=one.score * share)
