"""How is a diagnosis put before a person, or a program?"""

from collections.abc import Iterator
from typing import Any

from laststep.cli import render
from laststep.failures.failure import Failure
from laststep.records.text import Language, Text
from laststep.records.verdict import Diagnosis, Verdict

_CERTAINTY = {
    "proven": Text(en="proven", zh="已证实"),
    "likely": Text(en="likely", zh="很可能"),
    "possible": Text(en="possible", zh="可能"),
    "unknown": Text(en="not known", zh="未知"),
}
_LINE = Text(en="line {line}", zh="第 {line} 行")
_OR = Text(en="or", zh="或者")
_ALSO = Text(en="also", zh="另外")
_DO = Text(en="What to do:", zh="处理方法：")
_SHOWS = Text(en="How it looks:", zh="日志中的样子：")


def list_values(diagnosis: Diagnosis, language: Language) -> dict[str, Any]:
    """Give a diagnosis as plain values for JSON."""
    verdict = diagnosis.verdict
    return {
        "cause": verdict.cause,
        "certainty": verdict.certainty.value,
        "confidence": verdict.confidence,
        "explanation": verdict.explanation.say(language),
        "evidence": _list_evidence(verdict),
        "remedies": [
            {"title": advice.title.say(language), "class": advice.remedy_class, "command": advice.command}
            for advice in verdict.advice
        ],
        "alternatives": [{"cause": other.cause, "confidence": other.confidence} for other in diagnosis.alternatives],
        "also": [
            {"cause": other.cause, "explanation": other.explanation.say(language), "evidence": _list_evidence(other)}
            for other in diagnosis.also
        ],
        "path": diagnosis.path,
    }


def show(diagnosis: Diagnosis, language: Language, *, as_json: bool) -> None:
    """Show a diagnosis on stdout."""
    if as_json:
        render.show_values(list_values(diagnosis, language))
    else:
        render.show_lines(lambda is_colourful: list(_write(diagnosis, language, is_colourful=is_colourful)))


def _write(diagnosis: Diagnosis, language: Language, *, is_colourful: bool) -> Iterator[str]:
    verdict = diagnosis.verdict
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if is_colourful else ("", "", "")
    certainty = _CERTAINTY[verdict.certainty.value].say(language)
    yield f"{bold}{verdict.cause}{plain}  {certainty}, {verdict.confidence:.0%}"
    yield verdict.explanation.say(language)
    for evidence in verdict.evidence:
        place = _LINE.fill(line=evidence.line).say(language) if evidence.line is not None else evidence.source
        yield f"  {dim}{place}{plain}  {evidence.text}"
    for advice in verdict.advice:
        yield f"  → {advice.title.say(language)} ({advice.remedy_class})"
        if advice.command is not None:
            yield f"      {advice.command}"
    for label, others in ((_OR, diagnosis.alternatives), (_ALSO, diagnosis.also)):
        for other in others:
            yield f"  {dim}{label.say(language)} {other.cause} ({other.confidence:.0%}){plain}"


def _list_evidence(verdict: Verdict) -> list[dict[str, Any]]:
    return [{"source": one.source, "line": one.line, "text": one.text} for one in verdict.evidence]


def write_page(failure: Failure, language: Language) -> Iterator[str]:
    """Write the page of a cause."""
    yield f"{failure.id}: {failure.title.say(language)}"
    yield ""
    yield f"{failure.meaning.say(language)}."
    yield from ("", _DO.say(language))
    for remedy in failure.remedy:
        yield f"  → {remedy.title.say(language)} ({remedy.remedy_class})"
    yield from ("", _SHOWS.say(language))
    for example in failure.example:
        yield from (f"  {line}" for line in example.log.strip().splitlines())
    yield from ("", *failure.references)
