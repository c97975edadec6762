"""A log becomes a verdict with evidence that is really in it; a healthy one becomes none; each has an answer."""

import io
import itertools
import random
import re
import time

import pytest

from laststep.diagnosis.diagnose import diagnose
from laststep.diagnosis.literals import find_literals
from laststep.diagnosis.read_log import open_text
from laststep.failures.catalog import NO_FAULT, UNKNOWN, load_failures
from laststep.records.verdict import Certainty

KILLED = "RuntimeError: DataLoader worker (pid 2978) is killed by signal: Killed."


def read(log, command=""):
    return diagnose(open_text(log), source="a log", command=command)


def test_evidence_is_a_line_with_its_number():
    verdict = read(f"one\ntwo\n[rank0]: {KILLED}\nthree\n").verdict

    assert (verdict.cause, verdict.certainty) == ("host-memory.worker-oom-killed", Certainty.LIKELY)
    assert [(evidence.line, evidence.text) for evidence in verdict.evidence] == [(3, f"[rank0]: {KILLED}")]
    assert KILLED in verdict.explanation.en
    assert KILLED in verdict.explanation.zh


def test_a_bar_on_the_same_line_is_not_quoted_with_it():
    log = f"Train: 3%| 55/1800 [12:41<6:42:10]\rTrain: 3%| 56/1800 [12:55<6:42:10]\r{KILLED}\n"

    assert read(log).verdict.evidence[0].text == KILLED


def test_the_command_is_evidence_too():
    command = "#SBATCH --mem-per-cpu=4G\nsrun python train.py"

    verdict = read(KILLED, command).verdict

    assert verdict.cause == "host-memory.container-limit"
    assert ("command", "--mem-per-cpu=4G") in [(evidence.source, evidence.text) for evidence in verdict.evidence]


def test_a_cascade_and_advice_say_nothing():
    cascade = "WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 1201 closing signal SIGTERM\n" * 7
    advice = "CUDA kernel errors might be asynchronously reported at some other API call"

    assert read(cascade + advice).verdict.cause == UNKNOWN


def test_what_is_explained_by_another_is_set_aside():
    seen = read(f"Detected 1 oom_kill event in StepId=1.\n{KILLED}\n")

    assert seen.verdict.cause == "host-memory.container-limit"
    assert seen.alternatives[0].cause == "host-memory.worker-oom-killed"
    assert seen.alternatives[0].confidence < seen.verdict.confidence


def test_separate_problems_are_told_beside_the_cause():
    """A question out of a chat: a hang on several GPUs, and a run on one that was killed and called a success."""
    log = f"""多卡训练卡住
swift sft --loss_type listwise_reranker --dataset x
{KILLED}
退出状态: 0
"""
    seen = read(log)

    assert seen.verdict.cause == "host-memory.worker-oom-killed"
    assert [one.cause for one in seen.also] == ["distributed.detached-loss", "launch.exit-status-swallowed"]
    assert seen.also[1].evidence[0].line == 4


@pytest.mark.parametrize("log", ["", "\n\n", "hello", "NCCL version 2.14.3\nTraceback (most recent call last):"])
def test_what_shows_nothing_is_unknown_and_says_what_to_collect(log):
    verdict = read(log).verdict

    assert (verdict.cause, verdict.certainty) == (UNKNOWN, Certainty.UNKNOWN)
    assert "dmesg" in verdict.explanation.en


CUT_OFF = [
    "{'loss': 0.84, 'grad_norm': 1.2, 'epoch': 0.04}\n  4%|4 | 50/1250 [01:31<36:22,  1.82s/it]",
    "query: 'Killed by the mob' answer: 'RuntimeError is a class'\n 4%|4 | 50/1250 [01:31<36:22,  1.82s/it]",
]
HEALTHY = [
    "/opt/env/lib/python3.11/site-packages/x.py:1: FutureWarning: deprecated\n 4%|4 | 50/1250 [01:31<36:22, 1.8s/it]",
    "[rank0]: Warning: destroy_process_group() was not called\n100%|##| 143/143 [6:28:47<00:00, 163.13s/it]",
]


@pytest.mark.parametrize("log", HEALTHY)
def test_a_healthy_log_raises_nothing(log):
    assert read(log).verdict.cause == NO_FAULT


@pytest.mark.parametrize("log", CUT_OFF)
def test_a_log_that_just_ends_does_not_show_why(log):
    """It may go on, and it may have been killed: nobody can tell from steps alone."""
    assert read(log).verdict.cause == UNKNOWN


def damage(log, chance):
    """Cut it anywhere, put noise in, take some out, write it in another encoding or in one line."""
    data = bytearray(log)
    for _ in range(chance.randrange(12)):
        place, kind = chance.randrange(len(data) + 1), chance.random()
        if kind < 0.5:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif kind < 0.7:
            del data[place : place + chance.randrange(50)]
        else:
            data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
    data = data[chance.randrange(len(data) + 1) :]
    if chance.random() < 0.2:
        data = data.decode("utf-8", "replace").encode(chance.choice(["gb18030", "utf-16", "utf-16-be"]), "replace")
    return bytes(data).replace(b"\n", b"") if chance.random() < 0.1 else bytes(data)


def test_whatever_becomes_of_a_log_it_has_an_answer():
    chance = random.Random(7)
    logs = [example.log.encode() for failure in load_failures().values() for example in failure.example]
    for _ in range(10_000):
        data = damage(b"".join(chance.choice(logs) for _ in range(chance.randrange(1, 6))), chance)
        seen = diagnose(io.BytesIO(data), source="a log")
        assert seen.verdict.cause in load_failures()


HOSTILE = ["a", "0", " ", "(", "1.", "'loss': ", "Timeout(ms)=", "WorkNCCL(SeqNum=1, OpType=", "No such file "]


@pytest.mark.parametrize("failure", load_failures().values(), ids=lambda failure: failure.id)
def test_no_expression_runs_away(failure):
    """The longest line that is looked at, full of what an expression may stumble over."""
    lines = [(signal.line, ("", *find_literals(signal.line))) for signal in failure.signal if signal.line]
    commands = [(signal.command, ("",)) for signal in failure.signal if signal.command]
    for expression, texts in (*lines, *commands):
        for hostile, text in itertools.product(HOSTILE, texts):
            line = text + (hostile * 16384)[:16384] + text
            began = time.perf_counter()
            re.search(expression, line)
            assert time.perf_counter() - began < 0.25, (expression, hostile)


def test_ten_megabytes_in_one_line_take_no_time():
    began = time.monotonic()
    data = b"x" * 5_000_000 + KILLED.encode() + b"y" * 5_000_000

    assert diagnose(io.BytesIO(data), source="a log").verdict.cause
    assert time.monotonic() - began < 10
