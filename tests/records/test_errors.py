"""What went wrong is said in the language of whoever reads it."""

from laststep.records.errors import CommandError, LaststepError
from laststep.records.text import Text

GONE = Text(en="{name} is gone", zh="{name} 不见了").fill(name="x")
CLOSE_IT = Text(en="Close it.", zh="请关闭。")


def test_an_error_is_english_as_a_string_and_carries_both():
    error = LaststepError(GONE)
    assert str(error) == "x is gone"
    assert error.text == GONE


def test_all_problems_of_a_command_stand_below_one_another_in_each_language():
    error = CommandError(GONE, CLOSE_IT, exit_code=127)
    assert str(error) == "x is gone\nClose it."
    assert error.text.zh == "x 不见了\n请关闭。"
    assert (error.problems, error.exit_code) == ((GONE, CLOSE_IT), 127)
