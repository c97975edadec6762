"""Everything users read is there in both languages, with the same values in it."""

import ast
import string
from pathlib import Path

import pytest

from laststep.records.text import Language, Text, choose_language

SOURCE = Path(__file__).resolve().parents[2] / "src" / "laststep"


def all_texts():
    """Every Text written out in the sources, with where it stands."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Text" and path.name != "text.py":
                words = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
                yield pytest.param(words, id=f"{path.stem}:{node.lineno}")


def places(words):
    return {(name, spec) for _, name, spec, _ in string.Formatter().parse(words) if name is not None}


@pytest.mark.parametrize("words", list(all_texts()))
def test_every_text_says_the_same_in_both_languages(words):
    assert set(words) == {"en", "zh"}
    assert words["en"].strip()
    assert words["zh"].strip()
    assert places(words["en"]) == places(words["zh"])


def test_a_text_within_a_text_is_put_in_language_by_language():
    outer = Text(en="done: {what}", zh="完成：{what}")

    filled = outer.fill(what=Text(en="all", zh="全部"))

    assert (filled.say(Language.ENGLISH), filled.say(Language.CHINESE)) == ("done: all", "完成：全部")


@pytest.mark.parametrize(
    ("asked_for", "environment", "language"),
    [
        (None, {}, Language.ENGLISH),
        (None, {"LANG": "zh_CN.UTF-8"}, Language.CHINESE),
        (None, {"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}, Language.ENGLISH),
        (None, {"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, Language.CHINESE),
        (None, {"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, Language.CHINESE),
        ("en", {"LANG": "zh_CN.UTF-8"}, Language.ENGLISH),
    ],
)
def test_the_language_is_the_one_asked_for_or_the_locales(asked_for, environment, language):
    assert choose_language(asked_for, environment) is language
