"""What does an input show?"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from laststep.diagnosis.attempts import set_aside_earlier
from laststep.diagnosis.decide import LEAST, Weighed, decide
from laststep.diagnosis.find_signals import Seen, make_index
from laststep.diagnosis.read_input import UNREADABLE, Input, open_input
from laststep.diagnosis.read_log import Chunk, read_chunks
from laststep.diagnosis.run_facts import ASKED_TO_STOP, EXITED_WELL, REACHED
from laststep.failures.catalog import NO_FAULT, UNKNOWN, load_failures
from laststep.failures.failure import Failure
from laststep.records.errors import InputError
from laststep.records.text import Text, join_texts
from laststep.records.verdict import Advice, Certainty, Diagnosis, Evidence, Verdict, Whereabouts

_MOST_ALTERNATIVES = 4
_NO_LOGS = Text(
    en="{path} holds no logs; --batch reads every NAME.log of a folder",
    zh="{path} 中没有日志；--batch 读取目录中的每个 NAME.log",
)
_EXPLAINED = Text(en="{title}. {meaning}.", zh="{title}。{meaning}。")
_SEEN = Text(en="The line that shows it: {text}", zh="依据：{text}")
_LAST_SEEN = Text(en="The last line: {text}", zh="最后一行：{text}")
_DO = Text(en="What to do: {advice}.", zh="处理方法：{advice}。")
_LONGEST_QUOTE = 400
_ENDED = "ended in order"
_GOES_ON = frozenset({"progress goes on", "steps go on"})
_ALARMING = frozenset({"traceback", "warned lately"})


def diagnose_file(path: Path, *, command: str = "") -> Diagnosis:
    """Diagnose a log on disk, a run folder, an output folder, or an archive of one. Raises InputError."""
    with open_input(path) as given:
        return diagnose_input(given, command=command)


def diagnose(file: BinaryIO, *, source: str, command: str = "") -> Diagnosis:
    """Diagnose a log, read once from its beginning to its end."""
    return _diagnose(read_chunks(file, source), Input(source, ()), command)


def diagnose_input(given: Input, *, command: str = "", tick: Callable[[int, int], None] | None = None) -> Diagnosis:
    """Diagnose what was found at a path. Raises InputError."""
    return _diagnose(given.read(tick), given, command or given.command)


def _diagnose(chunks: Iterable[Chunk], given: Input, command: str) -> Diagnosis:
    failures = load_failures()
    seen = _add_facts(make_index(tuple(failures.values())).search(chunks), given.facts)
    decided = [one for one in decide(failures.values(), seen, command) if one.score > 0]
    weighed, earlier = set_aside_earlier(decided, seen.began_again_at)
    best = _choose(weighed) or _fall_back(failures, seen)
    best = best if best.evidence else replace(best, evidence=_quote_last(seen))  # what is missing shows at the end
    rest = [one for one in weighed if one.failure.id != best.failure.id]
    beside = [one for one in rest if one.failure.separate and one.has_proof and one.says_something]
    competing = [one for one in rest if one not in beside and (one.says_something or best.failure.id != NO_FAULT)]
    return Diagnosis(
        path=given.name,
        verdict=_word(best),
        alternatives=tuple(_word(one) for one in competing)[:_MOST_ALTERNATIVES],
        also=tuple(_word(one) for one in (*beside, *earlier)),
        command=command or "\n".join(told.text for told in seen.commands) or seen.launched,
        where=_find_where(best, seen) or (given.where if best.failure.id != NO_FAULT else None),
    )


def _find_where(best: Weighed, seen: Seen) -> Whereabouts | None:
    """Find where the run was when it failed: of the earliest evidence, with the rank that a launcher blames."""
    located = [one.where for one in best.evidence if one.where is not None]
    if not located or best.failure.id in (UNKNOWN, NO_FAULT):
        return None
    rank = next((one.rank for one in located if one.rank is not None), seen.first_rank)
    return replace(located[0], rank=rank)


def _add_facts(seen: Seen, facts: Mapping[str, Evidence | None]) -> Seen:
    """Add what the record of a run says; that it came to its end is surer there than in any log."""
    is_finished = REACHED in facts and EXITED_WELL in facts
    finished_at = sys.maxsize if is_finished else seen.finished_at
    more = {_ENDED: facts.get(REACHED)} if is_finished else {}
    return replace(seen, facts={**seen.facts, **facts, **more}, finished_at=finished_at)


def _choose(weighed: Sequence[Weighed]) -> Weighed | None:
    """Choose what an input is about: what the software itself says, before what goes on beside it."""
    told = [one for one in weighed if one.says_something]
    proven = [one for one in told if one.has_proof and not one.failure.separate]
    return next(iter(proven or told), None)


def _fall_back(failures: Mapping[str, Failure], seen: Seen) -> Weighed:
    """Nothing speaks for a cause: then either nothing failed, or the log does not show what."""
    # Steps behind what alarms say that it did no harm. Steps and then nothing say nothing of how it ended.
    got_over_it = bool(seen.facts.keys() & _GOES_ON) and bool(seen.facts.keys() & _ALARMING)
    is_fine = _ENDED in seen.facts or not seen.facts.keys().isdisjoint({ASKED_TO_STOP, REACHED}) or got_over_it
    cause = NO_FAULT if is_fine else UNKNOWN
    return Weighed(failures[cause], LEAST, has_proof=False, first=0, evidence=_quote_last(seen))


def _quote_last(seen: Seen) -> tuple[Evidence, ...]:
    last = seen.facts.get("last line")
    return (last,) if last is not None and last.text else ()


def _word(one: Weighed) -> Verdict:
    failure = one.failure
    advice = tuple(Advice(remedy.title, remedy.remedy_class, remedy.change) for remedy in failure.remedy)
    summary = _EXPLAINED.fill(title=failure.title, meaning=failure.meaning)
    words = _SEEN if failure.id not in (UNKNOWN, NO_FAULT) else _LAST_SEEN
    shown = [words.fill(text=_shorten(evidence)) for evidence in one.evidence[:1]]
    to_do = [_DO.fill(advice=join_texts((each.title for each in advice), between="; "))] if advice else []
    certainty = one.certainty if failure.id not in (UNKNOWN, NO_FAULT) or one.has_proof else Certainty.UNKNOWN
    return Verdict(
        cause=failure.id,
        certainty=certainty,
        confidence=one.confidence,
        explanation=join_texts([summary, *shown, *to_do], between=" "),
        summary=summary,
        evidence=one.evidence,
        advice=advice,
        retry=failure.retry,
    )


def _shorten(evidence: Evidence) -> str:
    return evidence.text if len(evidence.text) <= _LONGEST_QUOTE else evidence.text[:_LONGEST_QUOTE] + "…"


def list_batch(folder: Path) -> Sequence[tuple[Path, str]]:
    """List the logs of a folder, NAME.log, each with the command in NAME.command, if any. Raises InputError."""
    logs = sorted(folder.glob("*.log"))
    if not logs:
        raise InputError(_NO_LOGS.fill(path=folder))
    commands = [log.with_suffix(".command") for log in logs]
    return [(log, read_command(file) if file.exists() else "") for log, file in zip(logs, commands, strict=True)]


def read_command(path: Path) -> str:
    """Read the text of a command. Raises InputError."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(UNREADABLE.fill(path=path, reason=error.strerror or error)) from error
