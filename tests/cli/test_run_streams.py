"""Bytes, sizes and keys pass through as if laststep were not there."""

import hashlib
import os
import random
import subprocess
import sys

import pexpect
import pytest

TEN_MEGABYTES = 10 * 1024 * 1024
# Every byte value, and no long lines of zeros that a shortcut could guess.
WRITES_BYTES = (
    "import sys, random; r = random.Random(int(sys.argv[1])); s = getattr(sys, sys.argv[2]).buffer\n"
    f"for _ in range({TEN_MEGABYTES} // 8192): s.write(r.randbytes(8192))\n"
    "s.flush()"
)


def spawn(laststep, *words, **options):
    first, *others = laststep.words(*words)
    options = {"env": laststep.environment | {"TERM": "dumb"}, "timeout": 20, "dimensions": (33, 101)} | options
    return pexpect.spawn(first, others, **options)


def python(code, *arguments):
    return ["--", sys.executable, "-c", code, *arguments]


def expected_bytes(seed):
    generator = random.Random(seed)
    return b"".join(generator.randbytes(8192) for _ in range(TEN_MEGABYTES // 8192))


def test_ten_megabytes_pass_through_a_pipe_exactly(laststep):
    ended = laststep("run", *python(WRITES_BYTES, "7", "stdout"))

    assert hashlib.sha256(ended.stdout).digest() == hashlib.sha256(expected_bytes(7)).digest()
    assert (laststep.folder() / "output.log").read_bytes() == ended.stdout


def test_stdout_and_stderr_stay_apart(laststep):
    ended = laststep("run", *python("import sys; print('out'); print('err', file=sys.stderr)"))

    assert ended.stdout == b"out\n"
    assert b"err\n" in ended.stderr


def test_one_pipe_for_both_keeps_their_order(laststep):
    """In `2>&1 | tee` the order of the lines matters."""
    code = "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"
    ended = laststep("run", *python(code), capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    numbers = [int(line) for line in ended.stdout.splitlines() if line.isdigit()]
    assert numbers == list(range(500))


def test_a_reader_that_is_slow_gets_every_byte_and_does_not_hold_up_the_command(laststep, tmp_path):
    """The command ends while nothing has been read; the rest comes from the log."""
    done = tmp_path / "done"
    process = laststep.start("run", *python(f"{WRITES_BYTES}\nopen({str(done)!r}, 'w')", "8", "stdout"))
    laststep.wait_until(done.exists)

    output, _ = process.communicate(timeout=30)

    assert output == expected_bytes(8)


def test_a_slow_reader_gets_both_streams_apart(laststep, tmp_path):
    """What a client is owed is remembered with its stream."""
    done = tmp_path / "done"
    code = (
        "import os\nfor n in range(3000):\n  os.write(1, b'o%06d' % n * 500); os.write(2, b'e%06d' % n * 500)\n"
        f"open({str(done)!r}, 'w')"
    )
    process = laststep.start("run", *python(code))
    laststep.wait_until(done.exists)

    output, errors = process.communicate(timeout=30)

    assert output == b"".join(b"o%06d" % n * 500 for n in range(3000))
    assert b"".join(b"e%06d" % n * 500 for n in range(3000)) in errors


def test_a_reader_that_leaves_does_not_end_the_run(laststep, tmp_path):
    done = tmp_path / "done"
    code = f"import os\nfor n in range(2000): os.write(1, b'x' * 1000)\nopen({str(done)!r}, 'w')"
    process = laststep.start("run", *python(code), stderr=subprocess.DEVNULL)
    process.stdout.close()

    assert process.wait(30) == 0
    assert done.exists()


def test_stdin_that_is_a_pipe_is_the_commands(laststep):
    sent = os.urandom(300_000)

    ended = laststep("run", "--", "cat", input=sent)

    assert ended.stdout == sent


def test_no_stdin_is_no_stdin(laststep):
    ended = laststep("run", "--", "cat", stdin=subprocess.DEVNULL)

    assert (ended.returncode, ended.stdout) == (0, b"")


def test_closed_streams_are_survived(laststep):
    words = " ".join(laststep.words("run", "--", "true"))

    ended = subprocess.run(["sh", "-c", f"{words} <&- >&- 2>&-"], env=laststep.environment, timeout=30, check=False)

    assert ended.returncode == 0


def test_terminal_output_looks_as_it_does_without_us(laststep):
    """Line ends are completed once, colours and carriage returns pass."""
    child = spawn(laststep, "run", *python(r"print('a\n\x1b[31mb\x1b[0m'); print('50%\r100%')"))
    child.expect_exact("a\r\n\x1b[31mb\x1b[0m\r\n50%\r100%\r\n")
    child.expect(pexpect.EOF)

    assert (laststep.folder() / "output.log").read_bytes() == b"a\n\x1b[31mb\x1b[0m\n50%\r100%\n"


def test_ten_megabytes_pass_through_a_terminal(laststep):
    code = "import os\nfor n in range(160): os.write(1, (b'%05d' % n + b'z' * 65530 + b'\\n'))"
    child = spawn(laststep, "run", *python(code), maxread=65536)

    shown = b"".join(iter_output(child))

    expected = b"".join(b"%05d" % n + b"z" * 65530 + b"\r\n" for n in range(160))
    assert expected in shown


def test_the_command_sees_a_terminal_of_our_size_and_follows_it(laststep):
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGWINCH, lambda *_: print('now', *os.get_terminal_size(0), flush=True))\n"
        "print('tty', *(os.isatty(n) for n in range(3)), *os.get_terminal_size(1), flush=True)\n"
        "while True: signal.pause()"
    )
    child = spawn(laststep, "run", *python(code))
    child.expect_exact("tty True True True 101 33")

    child.setwinsize(40, 120)

    child.expect_exact("now 120 40")
    child.sendintr()
    child.expect(pexpect.EOF)


def test_typed_lines_reach_the_command_and_are_echoed_once(laststep):
    child = spawn(laststep, "run", *python("print('got', repr(input('> ')))"))
    child.expect_exact("> ")

    child.send("héllo\x7f!\r")

    child.expect_exact("got 'héll!'".encode())
    child.expect(pexpect.EOF)


def test_a_password_is_not_echoed(laststep):
    child = spawn(laststep, "run", *python("import getpass; print('length', len(getpass.getpass()))"))
    child.expect_exact("Password: ")
    child.send("secret\r")

    child.expect_exact("length 6")

    assert b"secret" not in child.before


def test_the_terminal_is_restored(laststep, tmp_path):
    """Also when the run is ended by Ctrl-C."""
    words = " ".join(laststep.words("run", "--", "sleep", "60"))
    script = f"stty -a > {tmp_path}/before; {words}; stty -a > {tmp_path}/after"
    child = pexpect.spawn("bash", ["-ic", script], env=laststep.environment, timeout=20)
    child.expect_exact("laststep attach")
    laststep.wait_until(lambda: laststep.pid_of("sleep 60"))

    child.sendintr()
    child.expect(pexpect.EOF)

    laststep.wait_until((tmp_path / "after").exists)
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def test_output_piped_on_while_stderr_is_a_terminal(laststep, tmp_path):
    """`laststep run … | tee` leaves lines whole: the terminal is not ours alone then."""
    words = " ".join(laststep.words("run", "--", "sh", "-c", "'echo one; echo two; test -t 2 && echo tty >&2'"))
    child = pexpect.spawn("bash", ["-c", f"{words} | tee {tmp_path}/copy"], env=laststep.environment, timeout=20)
    child.expect(pexpect.EOF)

    assert b"one\r\ntwo\r\n" in child.before
    assert b"tty\r\n" in child.before
    assert (tmp_path / "copy").read_bytes() == b"one\ntwo\n"


def iter_output(child):
    while True:
        try:
            yield child.read_nonblocking(65536, timeout=20)
        except pexpect.EOF:
            return


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT"])
def test_a_signal_switched_off_for_us_is_switched_off_for_the_command(laststep, name):
    code = f"import signal; print(signal.getsignal(signal.{name}) is signal.SIG_IGN, signal.getsignal(signal.SIGTTIN))"
    words = " ".join(f"'{word}'" for word in laststep.words("run", *python(code)))

    ended = subprocess.run(
        ["sh", "-c", f"trap '' {name[3:]}; exec {words}"], env=laststep.environment, capture_output=True, check=True
    )

    assert ended.stdout.split() == [b"True", b"0"]
