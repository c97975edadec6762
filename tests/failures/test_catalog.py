"""Every cause is told in both languages, knows its example when it sees it, and is not taken in by its near miss."""

import re
from importlib import resources

import msgspec
import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.facts import NAMES
from laststep.diagnosis.literals import find_literals
from laststep.diagnosis.read_log import open_text
from laststep.failures.catalog import load_failures, read_failure
from laststep.failures.failure import Role
from laststep_guard.wire import REMEDY_CLASSES

FAILURES = load_failures()
EXAMPLES = [(failure, example) for failure in FAILURES.values() for example in failure.example]
NEAR_MISSES = [(failure, near_miss) for failure in FAILURES.values() for near_miss in failure.near_misses]


def name(value):
    return getattr(value, "id", None) or getattr(value, "origin", None) or value.why


def diagnose_text(log, command):
    return diagnose(open_text(log), source="a log", command=command)


@pytest.mark.parametrize(("failure", "example"), EXAMPLES, ids=name)
def test_an_example_is_recognised(failure, example):
    seen = diagnose_text(example.log, example.command)

    told = [seen.verdict, *(seen.also if failure.separate else ())]
    verdict = next((one for one in told if one.cause == failure.id), None)
    assert verdict is not None, seen.verdict.cause
    assert verdict.evidence
    assert all(evidence.text in example.log or evidence.text in example.command for evidence in verdict.evidence)


@pytest.mark.parametrize(("failure", "near_miss"), NEAR_MISSES, ids=name)
def test_a_near_miss_is_not(failure, near_miss):
    assert diagnose_text(near_miss.log, near_miss.command).verdict.cause != failure.id


@pytest.mark.parametrize("failure", FAILURES.values(), ids=name)
def test_a_cause_is_told_whole_and_in_both_languages(failure):
    texts = [failure.title, failure.meaning, *(remedy.title for remedy in failure.remedy)]
    assert all(words.en and re.search(r"[\u4e00-\u9fff]", words.zh) for words in texts)
    assert failure.example
    assert failure.near_misses
    assert failure.remedy
    assert all(reference.startswith("https://") for reference in failure.references)
    assert failure.references
    assert {remedy.remedy_class for remedy in failure.remedy} <= set(REMEDY_CLASSES)


@pytest.mark.parametrize("failure", FAILURES.values(), ids=name)
def test_signals_can_be_searched_for_and_name_what_there_is(failure):
    names = [signal.name for signal in failure.signal]
    assert len(names) == len(set(names))
    assert set(failure.explains) <= set(FAILURES) - {failure.id}
    for signal in failure.signal:
        assert [signal.line, signal.command, signal.fact].count(None) == 2
        assert signal.fact is None or signal.fact in NAMES
        assert set(signal.needs) <= set(names) - {signal.name}
        if signal.line is not None:
            assert find_literals(signal.line)
        if signal.role is Role.CONTRADICTION:
            assert signal.weight is None or signal.weight < 0


def test_a_file_with_a_word_that_nobody_knows_is_refused():
    data = (resources.files("laststep.failures") / "disk" / "quota.toml").read_bytes()

    with pytest.raises(msgspec.ValidationError):
        read_failure("disk.quota", b"colour = 'red'\n" + data)


def test_there_are_seventy_five():
    assert len(FAILURES) >= 75
