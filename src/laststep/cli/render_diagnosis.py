"""How is a diagnosis put before a person, or a program?"""

from collections.abc import Iterator
from typing import Any

from laststep.cli import render
from laststep.failures.catalog import load_failures
from laststep.failures.failure import Failure
from laststep.records.text import Language, Text
from laststep.records.verdict import Certainty, Diagnosis, Evidence, Phase, Retry, Verdict, Whereabouts

_LEAST_SHOWN = 0.3  # an alternative that is less likely is for programs
_CERTAINTY = {
    "proven": Text(en="proven", zh="已证实"),
    "likely": Text(en="likely", zh="很可能"),
    "possible": Text(en="possible", zh="可能"),
    "unknown": Text(en="not known", zh="未知"),
}
_LINE = Text(en="line {line}", zh="第 {line} 行")
_WHERE = Text(en="where:", zh="位置：")
_RANK = Text(en="rank {rank}", zh="rank {rank}")
_STEP = Text(en="step {step}", zh="第 {step} 步")
_TIME = Text(en="at {time}", zh="时间 {time}")
_PHASES = {
    Phase.LOADING: Text(en="loading the model", zh="加载模型时"),
    Phase.PREPARING: Text(en="preparing the data", zh="准备数据时"),
    Phase.TRAINING: Text(en="training", zh="训练时"),
    Phase.EVALUATING: Text(en="evaluating", zh="评估时"),
    Phase.SAVING: Text(en="saving", zh="保存时"),
}
CLASSES = {
    "identical": Text(en="results stay identical", zh="结果完全相同"),
    "equivalent": Text(en="the same mathematics", zh="数学上等价"),
    "altering": Text(en="changes the training", zh="会改变训练"),
}
RETRY = {
    Retry.AS_IS: Text(
        en="Trying again as it is may be worth it: what ended the run may be over.",
        zh="可以原样重试：导致中断的情况可能已经过去。",
    ),
    Retry.AFTER_CHANGE: Text(
        en="Trying again without a change is not worth it: it will fail in the same way.",
        zh="不做改动就重试没有意义：会以同样方式失败。",
    ),
    Retry.AFTER_REPAIR: Text(
        en="Trying again is worth it once that is put right; the command itself can stay as it is.",
        zh="修复之后可以重试；命令本身无需改动。",
    ),
    Retry.POINTLESS: Text(en="There is nothing to try again.", zh="没有需要重试的内容。"),
    Retry.OPEN: Text(
        en="Whether trying again is worth it cannot be told before the cause is known; once, to collect what shows it.",
        zh="在弄清原因之前无法判断是否值得重试；可重试一次以收集证据。",
    ),
}
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
        "retry": {"worth": verdict.retry.value, "explanation": RETRY[verdict.retry].say(language)},
        "where": _list_where(diagnosis.where) if diagnosis.where is not None else None,
    }


def _list_where(where: Whereabouts) -> dict[str, Any]:
    phase = where.phase.value if where.phase is not None else None
    return {
        "rank": where.rank, "phase": phase, "step": where.step, "target_step": where.target_step, "time": where.time,
    }  # fmt: skip


def show(diagnosis: Diagnosis, language: Language, *, as_json: bool) -> None:
    """Show a diagnosis on stdout."""
    if as_json:
        render.show_values(list_values(diagnosis, language))
    else:
        render.show_lines(lambda is_colourful: list(_write(diagnosis, language, is_colourful=is_colourful)))


def _write(diagnosis: Diagnosis, language: Language, *, is_colourful: bool) -> Iterator[str]:
    verdict = diagnosis.verdict
    bold, dim, plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if is_colourful else ("", "", "")
    yield f"{bold}{verdict.cause}{plain}  {_say_certainty(verdict, language)}"
    yield verdict.summary.say(language)
    if diagnosis.where is not None:
        yield from (f"  {dim}{words}{plain}" for words in _write_where(diagnosis.where, language))
    if verdict.evidence:
        yield ""
    for evidence in verdict.evidence:
        yield f"  {dim}{_say_place(evidence, diagnosis, language)}{plain}  {evidence.text}"
    yield ""
    for advice in verdict.advice:
        yield f"  → {advice.title.say(language)} ({CLASSES[advice.remedy_class].say(language)})"
        if advice.command is not None:
            yield f"      {advice.command}"
    yield RETRY[verdict.retry].say(language)
    likely = [other for other in diagnosis.alternatives if other.confidence >= _LEAST_SHOWN]
    for label, others in ((_OR, likely), (_ALSO, diagnosis.also)):
        for other in others:
            title = load_failures()[other.cause].title.say(language)
            yield f"  {dim}{label.say(language)} {other.cause} ({other.confidence:.0%}): {title}{plain}"


def _say_certainty(verdict: Verdict, language: Language) -> str:
    words = _CERTAINTY[verdict.certainty.value].say(language)
    return words if verdict.certainty is Certainty.UNKNOWN else f"{words}, {verdict.confidence:.0%}"


def _say_place(evidence: Evidence, diagnosis: Diagnosis, language: Language) -> str:
    """Say which line it is, and of which file where there are several."""
    line = _LINE.fill(line=evidence.line).say(language) if evidence.line is not None else ""
    return line if line and evidence.source == diagnosis.path else f"{evidence.source} {line}".rstrip()


def _write_where(where: Whereabouts, language: Language) -> Iterator[str]:
    """Write where the run was: a line, or none where the log does not show it."""
    step = f"{where.step}/{where.target_step}"
    parts = [
        _RANK.fill(rank=where.rank) if where.rank is not None else None,
        _STEP.fill(step=step) if where.step is not None else None,
        _PHASES[where.phase] if where.phase is not None else None,
        _TIME.fill(time=where.time) if where.time is not None else None,
    ]
    said = [part.say(language) for part in parts if part is not None]
    if said:
        yield f"{_WHERE.say(language)} {', '.join(said)}"


def _list_evidence(verdict: Verdict) -> list[dict[str, Any]]:
    return [{"source": one.source, "line": one.line, "text": one.text} for one in verdict.evidence]


def write_page(failure: Failure, language: Language) -> Iterator[str]:
    """Write the page of a cause."""
    yield f"{failure.id}: {failure.title.say(language)}"
    yield ""
    yield f"{failure.meaning.say(language)}."
    yield from ("", _DO.say(language))
    for remedy in failure.remedy:
        yield f"  → {remedy.title.say(language)} ({CLASSES[remedy.remedy_class].say(language)})"
    yield from ("", RETRY[failure.retry].say(language))
    yield from ("", _SHOWS.say(language))
    for example in failure.example:
        yield from (f"  {line}" for line in example.log.strip().splitlines())
    yield from ("", *failure.references)
