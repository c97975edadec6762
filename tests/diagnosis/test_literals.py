"""Every match of an expression holds one of its texts."""

import re

import pytest

from laststep.diagnosis.literals import find_literals


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        ("CUDA out of memory", ("CUDA out of memory",)),
        (r"DataLoader worker \(pid \d+\) is killed", ("DataLoader worker (pid ",)),
        ("OutOfMemoryError|CUDA out of memory", ("OutOfMemoryError", "CUDA out of memory")),
        (r"(?:exit )+code 137", ("code 137",)),
        (r"a?b*Watchdog.*timeout", ("Watchdog",)),
        (r"(?:bind|listen) .*Address already in use", ("Address already in use",)),
    ],
)
def test_the_longest_that_will_do_is_found(expression, texts):
    assert set(find_literals(expression)) == set(texts)


@pytest.mark.parametrize("expression", [r"\d+", "abc", "error|ab", "(?:abcdef)?", "[abcd]efg"])
def test_an_expression_without_one_is_refused(expression):
    with pytest.raises(ValueError, match="no text of 4 letters"):
        find_literals(expression)


@pytest.mark.parametrize("line", ["x is killed by signal: Killed", "failed (exitcode: -9)", "nothing"])
def test_no_match_is_missed(line):
    for expression in (r"killed by signal: Killed", r"failed \(exitcode: -\d+\)|SIGKILL"):
        if re.search(expression, line):
            assert any(text in line for text in find_literals(expression))
