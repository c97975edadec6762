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
        (["demo", "--python", "/no/such"], "演示需要"),
    ],
)
def test_an_error_follows_the_locale_and_the_option_wins(say, words, said):
    command, *rest = words
    assert said in say("zh_CN.UTF-8", *words)
    assert said in say("C.UTF-8", command, "--lang", "zh", *rest)
    assert said not in say("zh_CN.UTF-8", command, "--lang", "en", *rest)


def test_an_option_of_the_commands_own_is_not_laststeps(say):
    assert "is not on PATH" in say("C.UTF-8", "run", "no-such-program", "--lang", "zh")


def test_a_demonstration_and_its_runs_speak_one_language(laststep, tmp_path):
    """The environment is a fake one, in which nothing is missing and every training fails."""
    for name, code in (("python", 0), ("swift", 3)):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\nexit {code}\n")
        program.chmod(0o755)
    environment = laststep.environment | {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    told = laststep("demo", "--lang", "zh", "--python", tmp_path / "bin" / "python", env=environment)

    assert told.returncode == 1
    assert "正在构建" in told.stderr.decode()
    assert "未受干扰：退出码 3" in told.stdout.decode()
    assert "运行目录" in told.stdout.decode()  # of the report among the last lines of a failed run


def test_what_reading_the_command_changed_is_told_in_chinese(say, tmp_path):
    (tmp_path / "command.txt").write_text("```\n$ nohup true &\n```\n")
    told = say("zh_CN.UTF-8", "run", tmp_path / "command.txt")
    assert "代码块标记已去掉" in told
    assert "已去掉 nohup" in told
    assert "left out" not in told
