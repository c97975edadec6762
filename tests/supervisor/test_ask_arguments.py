import json
import os

import pytest

from laststep.host.training_python import NoAnswerError
from laststep.records.command import Command
from laststep.records.text import Text
from laststep.supervisor.ask_arguments import ask_arguments, ask_once

ANSWER = {
    "framework": "ms-swift",
    "version": "4.6.0",
    "arguments": [{"names": ["--model"], "nargs": None, "choices": [], "kind": "str", "default": None}],
    "watched": [],
}
COMMAND = Command(("swift", "sft", "--modell", "m"))


class FakeEnvironment:
    def __init__(self, answer=ANSWER, name="env"):
        self.answer, self.name, self.asked = answer, name, 0

    def ask(self, question, *arguments):
        self.asked += 1
        if self.answer is None:
            raise NoAnswerError(Text(en="no torch here", zh="没有 torch"))
        return self.answer

    def identify(self):
        return self.name


def test_what_the_environment_refuses_is_a_problem(tmp_path):
    (program,) = ask_arguments(COMMAND, FakeEnvironment(), answers=tmp_path)
    assert program.problems[0].instead == ("--model", "m")


def test_an_environment_that_cannot_answer_is_no_pass(tmp_path):
    (program,) = ask_arguments(COMMAND, FakeEnvironment(None), answers=tmp_path)
    assert program.accepted is None
    assert program.unanswered.en == "no torch here"


def test_an_answer_is_kept(tmp_path):
    environment = FakeEnvironment()
    assert ask_arguments(COMMAND, environment, answers=tmp_path) == ask_arguments(
        COMMAND, environment, answers=tmp_path
    )
    assert environment.asked == 1


@pytest.mark.parametrize("what", ["environment", "source", "torn"])
def test_an_answer_that_may_have_changed_is_asked_for_again(tmp_path, what):
    source = tmp_path / "sft_args.py"
    source.write_text("")
    environment = FakeEnvironment({**ANSWER, "watched": [str(source)]})
    ask_once(environment, "accepted_arguments", "swift:sft", answers=tmp_path / "answers")

    (kept,) = (tmp_path / "answers").iterdir()
    if what == "environment":
        environment.name = "other"
    elif what == "source":
        os.utime(source, (0, 0))
    else:
        kept.write_text(json.dumps({"answer": 1})[:-3])
    ask_once(environment, "accepted_arguments", "swift:sft", answers=tmp_path / "answers")

    assert environment.asked == 2


def test_a_home_that_cannot_be_written_costs_a_question_and_no_more(tmp_path):
    (tmp_path / "file").write_text("")
    environment = FakeEnvironment()
    ask_once(environment, "accepted_arguments", "swift:sft", answers=tmp_path / "file" / "answers")
    assert environment.asked == 1
