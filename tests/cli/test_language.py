"""Errors and notes are said in the language that was asked for, else in that of the locale."""

import pytest


@pytest.fixture
def say(laststep):
    """What laststep says on stderr, under a locale."""

    def run(locale, *words):
        return laststep(*words, env=laststep.environment | {"LANG": locale}).stderr.decode()

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "没有要运行的命令"),
        (["run", "no-such-program"], "不在 PATH 中"),
        (["run", "--no-guard", "lodaer", "--", "true"], "没有这个名称"),
        (["attach"], "还没有运行"),
        (["stop", "./nowhere"], "不是运行目录"),
    ],
)
def test_an_error_follows_the_locale_and_the_option_wins(say, words, said):
    command, *rest = words
    assert said in say("zh_CN.UTF-8", *words)
    assert said in say("C.UTF-8", command, "--lang", "zh", *rest)
    assert said not in say("zh_CN.UTF-8", command, "--lang", "en", *rest)


def test_an_option_of_the_commands_own_is_not_laststeps(say):
    assert "is not on PATH" in say("C.UTF-8", "run", "no-such-program", "--lang", "zh")


def test_what_reading_the_command_changed_is_told_in_chinese(say, tmp_path):
    (tmp_path / "command.txt").write_text("```\n$ nohup true &\n```\n")
    told = say("zh_CN.UTF-8", "run", tmp_path / "command.txt")
    assert "代码块标记已去掉" in told
    assert "已去掉 nohup" in told
    assert "left out" not in told
