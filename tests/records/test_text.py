"""Everything users read is there in both languages, with the same values in it."""

import ast
import string
from pathlib import Path

import pytest

from laststep.records import errors
from laststep.records.text import Language, Text, choose_language, join_texts

SOURCE = Path(__file__).resolve().parents[2] / "src" / "laststep"
ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def all_texts():
    """Every Text written out in the sources, with where it stands."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Text" and path.name != "text.py":
                words = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
                yield pytest.param(words, id=f"{path.stem}:{node.lineno}")


def places(words):
    return {(name, spec) for _, name, spec, _ in string.Formatter().parse(words) if name is not None}


def plain_messages(source, errors):
    """Lines on which an error is given words that are written out instead of a Text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in errors:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from (node.lineno for argument in given if is_written_out(argument))


def is_written_out(node):
    """Tell whether a string is part of an expression; the arguments of a call are not, `"…".format` is."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return True
    parts = [node.func] if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    return any(map(is_written_out, parts))


def kinds_of_error():
    """The errors of the tree, and those that derive from one of them anywhere in the sources."""
    found = set(ERRORS)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and found & {ast.unparse(base) for base in node.bases}:
                found.add(node.name)
    return found


def test_every_error_carries_a_text():
    """A message raised as a plain string would be English to everybody."""
    plain = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in plain_messages(path.read_text(), kinds_of_error())
    ]
    assert {"LaststepError", "CommandError", "RunNotFoundError"} <= kinds_of_error()
    assert not plain


@pytest.mark.parametrize(
    "message",
    [
        '"gone"',
        'f"{name} is gone"',
        '"{} is gone".format(name)',
        '"it is " + name',
        '"%s is gone" % name',
        '_GONE, "again"',
        '*(f"{name} is gone" for name in names)',
        '_GONE if name else "gone"',
        '", ".join(names)',
    ],
)
def test_a_plain_message_is_noticed(message):
    assert list(plain_messages(f"raise errors.CommandError({message}, exit_code=2)", ERRORS)) == [1]


@pytest.mark.parametrize("message", ["_GONE", '_GONE.fill(names=", ".join(names))', "*problems", "a if b else c"])
def test_a_text_is_taken(message):
    assert not list(plain_messages(f"raise CommandError({message}, exit_code=2)", ERRORS))


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


def test_texts_are_joined_language_by_language():
    joined = join_texts([Text(en="one", zh="一"), Text(en="two", zh="二")], ", ")
    assert joined == Text(en="one, two", zh="一, 二")


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
