"""What laststep was asked to run, read from everything people hand it."""

import os
import shlex
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.planning.read_command import read_command
from laststep.records.errors import CommandError

REPORTED = (
    "IMAGE_MAX_TOKEN_NUM=768 \\ MAX_POSITIVE_SAMPLES=10 \\ CUDA_VISIBLE_DEVICES=0,1,2,3 \\ NPROC_PER_NODE=4 \\ swift "
    'sft \\ --model "/home/workspace/models/Qwen/Qwen3-VL-Reranker-8B" \\ --loss_type "listwise_reranker" '
    '\\ --learning_rate "5e-5" \\ --target_modules all-linear \\ --dataloader_drop_last true'
)
REPORTED_ARGV = (
    "swift", "sft", "--model", "/home/workspace/models/Qwen/Qwen3-VL-Reranker-8B", "--loss_type", "listwise_reranker",
    "--learning_rate", "5e-5", "--target_modules", "all-linear", "--dataloader_drop_last", "true",
)  # fmt: skip
REPORTED_ENVIRONMENT = {
    "IMAGE_MAX_TOKEN_NUM": "768",
    "MAX_POSITIVE_SAMPLES": "10",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
    "NPROC_PER_NODE": "4",
}
SHELL_PATH = os.defpath


@pytest.fixture
def folder(tmp_path):
    """A folder to stand in, with a `swift` and a `python` on the search path."""
    for name in ("swift", "python", "torchrun"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    return tmp_path


def read(folder, *arguments):
    return read_command(arguments, cwd=folder, environment={"PATH": f"{folder}/bin:{SHELL_PATH}"})


def read_text(folder, text, name="command.txt"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(folder, name)


def refusal(folder, *arguments):
    with pytest.raises(CommandError) as caught:
        read(folder, *arguments)
    return str(caught.value)


def text_refusal(folder, text, name="command.txt"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return refusal(folder, name)


def as_bash_sees_it(text, folder):
    """The words that bash hands to a program, with the program replaced by one that prints them."""
    script = f'swift() {{ printf "%s\\0" swift "$@"; }}\n{text}\n'
    shown = subprocess.run(["bash", "-c", script], capture_output=True, check=True, cwd=folder)
    return tuple(shown.stdout.decode().split("\0")[:-1])


class TestWordsAfterTheDashes:
    def test_they_are_started_as_they_stand(self, folder):
        argv = ("swift", "sft", "--x", "$HOME *", "a;b", "", "\u2013dash", "> file")
        assert read(folder, *argv).argv == argv

    def test_leading_assignments_become_variables(self, folder):
        command = read(folder, "A=1", "B=x y", "swift", "sft", "C=3")
        assert command.argv == ("swift", "sft", "C=3")
        assert dict(command.environment) == {"A": "1", "B": "x y"}

    def test_a_program_of_the_search_path_is_no_file(self, folder):
        assert read(folder, "swift").argv == ("swift",)

    def test_one_quoted_argument_is_a_pasted_command(self, folder):
        assert read(folder, "swift sft --model x").argv == ("swift", "sft", "--model", "x")

    def test_an_executable_with_its_path_is_started_as_it_stands(self, folder):
        assert read(folder, "./bin/swift", "sft").argv == ("./bin/swift", "sft")


class TestAPastedCommand:
    def test_the_reported_line_with_its_lost_line_ends(self, folder):
        command = read_text(folder, REPORTED)
        assert command.argv == REPORTED_ARGV
        assert dict(command.environment) == REPORTED_ENVIRONMENT

    def test_the_reported_line_with_line_ends(self, folder):
        command = read_text(folder, REPORTED.replace("\\ ", "\\\n  "))
        assert command.argv == REPORTED_ARGV
        assert dict(command.environment) == REPORTED_ENVIRONMENT

    @pytest.mark.parametrize(
        ("text", "argv"),
        [
            ("swift sft # a comment", ("swift", "sft")),
            ("# a comment\n\nswift sft\n", ("swift", "sft")),
            ("swift 'a b' \"c d\" e\\ f", ("swift", "a b", "c d", "e f")),
            ("swift '' \"\"", ("swift", "", "")),
            ("swift a#b x=#y", ("swift", "a#b", "x=#y")),
            ('swift "it\'s" \'say "hi"\'', ("swift", "it's", 'say "hi"')),
            ('swift "a\\"b" "c\\\\d" "e\\f"', ("swift", 'a"b', "c\\d", "e\\f")),
            ('swift --x "two\\\nlines"', ("swift", "--x", "twolines")),
            ('swift "two\nlines"', ("swift", "two\nlines")),
            ("swift --json '{\"a\": [1, 2]}'", ("swift", "--json", '{"a": [1, 2]}')),
            ("swift sft\\\n  --a 1", ("swift", "sft", "--a", "1")),
            ("swift 5 6", ("swift", "5", "6")),
            ("set -euo pipefail\nswift sft", ("swift", "sft")),
            ("swift sft;", ("swift", "sft")),
            ("swift a=b", ("swift", "a=b")),
            ("swift --x {a}", ("swift", "--x", "{a}")),
            ("swift --x $ 5", ("swift", "--x", "$", "5")),
            ("swift --数据 文件.json", ("swift", "--数据", "文件.json")),
        ],
    )
    def test_is_read_as_bash_reads_it(self, folder, text, argv):
        assert read_text(folder, text).argv == argv
        assert as_bash_sees_it(text, folder) == argv

    @pytest.mark.parametrize(
        "text",
        [
            "$ swift sft --a 1",
            "user@host:~/work$ swift sft --a 1",
            "(base) root@gpu-1:/work# swift sft --a 1",
            "[me@node work]$ swift sft --a 1",
            "# swift sft --a 1",
            "$ swift sft \\\n> --a 1",
            "```bash\nswift sft \\\n  --a 1\n```",
            "~~~\nswift sft --a 1\n~~~",
            "`swift sft --a 1`",
            "swift sft \\\r\n  --a 1\r\n",
            "\ufeffswift sft --a 1",
            "swift\u00a0sft\u00a0--a 1",
            "swift sft \u2014a 1".replace("\u2014a", "\u2014a"),
            "swift sft \u200b--a 1",
            "swift sft \\  \n --a 1",
            "swift sft\\ --a 1",
            "swift sft\n  --a 1",
            "swift sft \\\n  # --b 2 \\\n  --a 1",
            "swift sft --a \u201c1\u201d",
            "swift sft --a \u20181\u2019",
        ],
    )
    def test_loses_what_the_page_put_around_it(self, folder, text):
        """Each repair is told, so that nobody wonders where a character went."""
        command = read_text(folder, text)
        if text.startswith("swift sft \u2014a"):
            assert command.argv == ("swift", "sft", "-a", "1")
        else:
            assert command.argv == ("swift", "sft", "--a", "1")
        assert command.notes

    @pytest.mark.parametrize(
        ("dash", "argument"),
        [("\u2013model", "--model"), ("\u2014model", "--model"), ("--max\u2011length", "--max-length")],
    )
    def test_typographic_dashes_are_flags_again(self, folder, dash, argument):
        assert read_text(folder, f"swift sft {dash} x").argv == ("swift", "sft", argument, "x")

    def test_typographic_characters_inside_quotes_stay(self, folder):
        assert read_text(folder, "swift '\u2013a\u00a0b' \"\u201cc\u201d\"").argv == (
            "swift",
            "\u2013a\u00a0b",
            "\u201cc\u201d",
        )

    def test_exports_and_assignments_become_variables_in_order(self, folder):
        command = read_text(folder, "export A=1 B='x y'\nexport A=2\nC=\"3\" A=4 swift sft\nexport D=5")
        assert list(command.environment.items()) == [("A", "4"), ("B", "x y"), ("C", "3")]

    def test_nohup_and_the_background_are_told_and_left_out(self, folder):
        command = read_text(folder, "nohup swift sft > train.log 2>&1 &")
        assert command.argv == ("swift", "sft")
        assert command.background
        assert command.output_file == "train.log"
        assert not command.output_appends
        assert len(command.notes) == 2

    @pytest.mark.parametrize(
        ("redirection", "file", "appends"),
        [
            ("> a.log", "a.log", False),
            (">a.log 2>&1", "a.log", False),
            ("&> 'a b.log'", "a b.log", False),
            (">> a.log 2>&1 < /dev/null", "a.log", True),
            ("&>>a.log", "a.log", True),
            ("1>a.log", "a.log", False),
            ("2>&1 | tee a.log", "a.log", False),
            ("2>&1 | tee -a a.log &", "a.log", True),
        ],
    )
    def test_the_file_of_its_output_is_kept(self, folder, redirection, file, appends):
        command = read_text(folder, f"swift sft --a 1 {redirection}")
        assert command.argv == ("swift", "sft", "--a", "1")
        assert (command.output_file, command.output_appends) == (file, appends)

    def test_in_utf_16_as_an_editor_on_windows_saves_it(self, folder):
        assert read_text(folder, "swift sft --数据 x".encode("utf-16")).argv == ("swift", "sft", "--数据", "x")

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=12), max_size=6)
    )
    def test_quoted_by_shlex_comes_back_whole(self, folder, words):
        argv = ("swift", *words)
        assert read_text(folder, shlex.join(argv)).argv == argv

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
    @given(st.text(st.sampled_from(list(" \\'\"\nab-=#5")), max_size=14))
    def test_whatever_both_accept_bash_reads_the_same(self, folder, tail):
        """The oracle is bash itself; texts that were repaired or refused are not compared."""
        text = f"swift x{tail}"
        (folder / "command.txt").write_text(text)
        try:
            command = read(folder, "command.txt")
        except CommandError:
            return
        if command.argv[0] == "swift" and not command.notes:
            assert as_bash_sees_it(text, folder) == command.argv


class TestAScript:
    def test_is_run_by_the_interpreter_it_names(self, folder):
        (folder / "train.sh").write_text("#!/bin/bash -e\nswift sft\n")
        assert read(folder, "train.sh", "--x", "1").argv == ("/bin/bash", "-e", "train.sh", "--x", "1")

    @pytest.mark.parametrize(
        "text",
        [
            "MODEL=x\nswift sft --model $MODEL",
            'swift sft --model "$MODEL"',
            "cd /work && swift sft",
            "for i in 1 2; do swift sft; done",
            "swift sft | grep loss",
            "swift sft --data *.json",
            "swift sft --data ~/x.json",
            "swift sft --data {a,b}.json",
            "swift sft --seed `date`",
            'swift sft --seed "`date`"',
            'swift sft --seed "a$`date`"',
            "A=1\nswift sft",
            "swift sft\nswift export",
            "swift sft 2> errors.log",
            "source activate\nswift sft",
            "cat <<END\nit's\nEND\nswift sft",
        ],
    )
    def test_that_needs_a_shell_is_run_by_bash(self, folder, text):
        assert read_text(folder, text, "train.sh").argv == ("bash", "train.sh")

    def test_with_one_plain_command_is_that_command(self, folder):
        """Its words can then be checked, and changed for a resume."""
        assert read_text(folder, "set -e\nexport A=1\nswift sft\n", "train.sh").argv == ("swift", "sft")

    def test_with_a_dash_in_front_of_its_name_is_no_option(self, folder):
        assert read_text(folder, "cd x; swift sft", "-train.sh").argv == ("bash", "./-train.sh")

    def test_with_a_unicode_name(self, folder):
        assert read_text(folder, "cd x; swift sft", "训练 一.sh").argv == ("bash", "训练 一.sh")

    def test_one_command_with_an_expansion_goes_to_bash_from_any_file(self, folder):
        assert read_text(folder, "swift sft --model $HOME/m").argv == ("bash", "command.txt")

    def test_one_command_with_an_expansion_goes_to_bash_from_the_command_line(self, folder):
        assert read(folder, "swift sft --model $HOME/m").argv == ("bash", "-c", "swift sft --model $HOME/m")


class TestARefusal:
    """Says what was seen, where, and what to do."""

    def test_nothing_given(self, folder):
        assert "laststep run -- swift sft" in refusal(folder)

    def test_only_variables_given(self, folder):
        assert "Only variables" in refusal(folder, "A=1")

    def test_a_misspelt_program(self, folder):
        assert "Did you mean `swift`?" in refusal(folder, "swfit", "sft")

    def test_a_launcher_that_is_not_on_the_search_path(self, folder):
        message = refusal(folder, "accelerate", "launch")
        assert "not on PATH" in message
        assert "Activate the environment" in message

    def test_a_program_of_this_folder_without_its_path(self, folder):
        (folder / "prog").write_bytes(b"\x7fELF\0\0")
        (folder / "prog").chmod(0o755)
        assert "./prog" in refusal(folder, "prog", "x")

    @pytest.mark.parametrize("name", ["./nothing.sh", "nothing.sh", "/no/such/file"])
    def test_a_missing_file(self, folder, name):
        assert name in refusal(folder, name)

    def test_a_folder(self, folder):
        assert "is a folder" in refusal(folder, "./bin")

    @pytest.mark.parametrize("content", [b"", b"  \n\n", b"\n"])
    def test_an_empty_file(self, folder, content):
        assert "is empty" in text_refusal(folder, content)

    def test_only_comments(self, folder):
        assert "no command" in text_refusal(folder, "# nothing\n")

    def test_a_binary_file(self, folder):
        assert "binary" in text_refusal(folder, b"PK\x03\x04\0\0\0")

    def test_text_in_another_encoding(self, folder):
        message = text_refusal(folder, "# 注释\nswift sft --数据 x".encode("gbk"))
        assert "line 1" in message
        assert "iconv" in message

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_without_permission(self, folder):
        (folder / "train.sh").write_text("swift sft")
        (folder / "train.sh").chmod(0)
        assert "permission denied" in refusal(folder, "train.sh")

    @pytest.mark.parametrize(
        ("text", "line"), [("swift sft --a 'x\n--b", 1), ('swift \\\n --a "x', 2), ("swift\n\n\n--x 'y", 4)]
    )
    def test_a_quote_that_never_closes_names_its_line(self, folder, text, line):
        message = text_refusal(folder, text, "train.sh")
        assert f"line {line}: the quote" in message

    def test_a_sign_of_the_shell_inside_the_open_quote_excuses_nothing(self, folder):
        assert "never closes" in text_refusal(folder, "swift x'a$(b", "train.sh")

    def test_several_commands_in_a_text_name_their_lines(self, folder):
        message = text_refusal(folder, "swift sft\n\nswift export")
        assert "line 3: another command: swift" in message
        assert ".sh" in message

    def test_prose_is_not_run_by_bash(self, folder):
        message = text_refusal(folder, "My training hangs.\nrm is what I tried\nswift sft --x $Y")
        assert "not one command" in message

    def test_a_whole_conversation_is_refused_in_a_few_lines(self, folder):
        text = "\n".join(f"word{number} says (this) \u2018quoted\u2019" for number in range(100))
        assert len(text_refusal(folder, text).splitlines()) < 20

    def test_a_repair_met_on_many_lines_is_told_once(self, folder):
        command = read_text(folder, "swift sft \\ \n" + "".join(f" --x{n} \u201c1\u201d \\\n" for n in range(9)))
        assert [note.en for note in command.notes if "quote" in note.en] == [
            "command.txt, lines 2, 3, 4, 5, 6, …: a typographic quote (\u201c) read as a plain one"
        ]

    def test_repaired_text_never_goes_to_bash(self, folder):
        """bash would read the prompt or the typographic quote as something else."""
        assert "stumble" in text_refusal(folder, "$ swift sft --model $MODEL", "train.sh")

    def test_a_script_with_windows_line_ends(self, folder):
        assert "Windows line ends" in text_refusal(folder, "#!/bin/bash\r\nswift sft\r\n", "train.sh")

    def test_a_python_program_without_interpreter(self, folder):
        assert "python train.py" in text_refusal(folder, "import torch\n", "train.py")

    def test_an_interpreter_that_is_not_there(self, folder):
        assert "/no/such" in text_refusal(folder, "#!/no/such/bash\nswift sft\n", "train.sh")

    def test_a_file_that_is_no_text_of_a_command(self, folder):
        (folder / "big.txt").write_text("x" * (2 << 20))
        assert "bytes" in refusal(folder, "big.txt")

    @pytest.mark.parametrize("word", ["a" * 300, "./" + "a" * 300, "swfit " + "a" * 300])
    def test_a_word_that_is_too_long_to_be_a_file(self, folder, word):
        """A whole command in quotes is longer than a file name may be."""
        assert "aaa" in refusal(folder, word) or "swfit" in refusal(folder, word)
