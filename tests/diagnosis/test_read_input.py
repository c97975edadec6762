"""Run folders, output folders and archives are read as what they are, and their records count for more than texts."""

import contextlib
import gzip
import io
import json
import random
import re
import tarfile

import pytest

from laststep.diagnosis.diagnose import diagnose_file
from laststep.diagnosis.read_input import open_input
from laststep.failures.catalog import NO_FAULT, UNKNOWN
from laststep.journal.layout import RunFolder
from laststep.records.ending import Ending, ProcessEnd, StopManner, StopRequest, write_ending
from laststep.records.errors import InputError
from laststep_guard.wire import EventKind

STEPS = "{'loss': 2.1, 'grad_norm': 1.1}\n 10%|#  | 10/100 [00:10<01:30,  1.00s/it]\n"
DIED = {"kind": EventKind.WORKER_DIED, "code": -9, "worker": 7}
REBUILT = {"kind": EventKind.LOADER_REBUILT, "seconds": 0.1}
FULL = {"kind": EventKind.SAVE_FAILED, "step": 10, "reason": "[Errno 28] No space left on device"}
SAVED = {"kind": EventKind.CHECKPOINT_SAVED, "step": 10}
CHILD = {"kind": EventKind.CHILD_ENDED, "child": 8, "code": -9}
THERE = {"kind": EventKind.TRAIN_ENDED, "step": 100, "target_step": 100}


def write_run(place, *events, output=STEPS, attempt=1, code=1, **ending):
    """Write what a run leaves whose guards wrote these events, ten seconds apart."""
    run = RunFolder(place)
    folder = run.attempt(attempt)
    folder.events.mkdir(parents=True)
    run.run.write_text(json.dumps({"command": ["swift", "sft", "--model", "a b"]}))
    lines = [json.dumps({"time": 100.0 + 10 * place, "rank": 0, **event}) for place, event in enumerate(events)]
    (folder.events / "guard-7.jsonl").write_text("".join(f"{line}\n" for line in lines))
    values = {"command": ProcessEnd(3, code, 500.0), "started_at": 90.0, "output_bytes": len(output)} | ending
    folder.ending.write_text(json.dumps(write_ending(Ending(**values))))
    with run.output.open("a") as file:
        file.write(output)
    return place


@pytest.mark.parametrize(
    ("events", "ending", "cause"),
    [
        ([DIED], {}, "host-memory.worker-oom-killed"),
        ([DIED, REBUILT], {}, UNKNOWN),
        ([DIED | {"code": -7}], {}, "shared-memory.too-small"),
        ([CHILD], {"oom_kills": 1}, "host-memory.rank-oom-killed"),
        ([CHILD], {"oom_kills": 0}, UNKNOWN),
        ([CHILD], {"oom_kills": 1, "memory_peak_bytes": 99, "memory_limit_bytes": 100}, "host-memory.rank-oom-killed"),
        ([CHILD], {"oom_kills": 1, "sweep_began_at": 99.0}, UNKNOWN),
        ([FULL], {}, "disk.full"),
        ([FULL, SAVED], {}, UNKNOWN),
        ([THERE], {"code": 0}, NO_FAULT),
        ([], {"stop_requests": (StopRequest(StopManner.WELL, 200.0),)}, NO_FAULT),
        ([], {}, UNKNOWN),
    ],
)
def test_the_record_of_a_run_tells_the_cause(tmp_path, events, ending, cause):
    assert diagnose_file(write_run(tmp_path / "run", *events, **ending)).verdict.cause == cause


def test_what_the_record_says_is_quoted_from_it(tmp_path):
    run = write_run(tmp_path / "run", REBUILT, DIED)
    (evidence,) = diagnose_file(run).verdict.evidence

    assert (evidence.source, evidence.line) == ("attempts/1/events/guard-7.jsonl", 2)
    assert (run / evidence.source).read_text().splitlines()[1] == evidence.text


def test_the_record_counts_for_more_than_a_text(tmp_path):
    run = write_run(tmp_path / "run", DIED, output="RuntimeError: CUDA error: out of memory\n")

    assert diagnose_file(run).verdict.cause == "host-memory.worker-oom-killed"


def test_a_run_that_reached_its_last_step_is_not_accused(tmp_path):
    killed = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed.\n"

    assert diagnose_file(write_run(tmp_path / "run", THERE, output=killed, code=0)).verdict.cause == NO_FAULT


def test_an_exit_status_that_hides_a_failure_is_told_beside_it(tmp_path):
    failed = {"kind": EventKind.RANK_FAILED, "error": "OSError", "message": "x", "step": 4}
    seen = diagnose_file(write_run(tmp_path / "run", FULL, failed, code=0))

    assert seen.verdict.cause == "disk.full"
    assert [other.cause for other in seen.also] == ["launch.exit-status-swallowed"]


def test_the_last_attempt_counts_and_its_lines_keep_their_numbers(tmp_path):
    write_run(tmp_path / "run", output="RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n" + STEPS)
    run = write_run(tmp_path / "run", output="OSError: [Errno 28] No space left on device\n", attempt=2)
    seen = diagnose_file(run)

    assert seen.verdict.cause == "disk.full"
    assert [(one.source, one.line) for one in seen.verdict.evidence] == [("output.log", 4)]
    assert seen.command == "swift sft --model 'a b'"


@pytest.mark.parametrize("kind", ["gz", "bz2", ""])
def test_an_archive_is_read_like_the_folder(tmp_path, kind):
    run = write_run(tmp_path / "run", DIED)
    archive = tmp_path / f"run.tar.{kind}"
    with tarfile.open(archive, f"w:{kind}") as packed:
        packed.add(run, "20261206_model_abcde")

    assert diagnose_file(archive).verdict == diagnose_file(run).verdict


def test_an_archive_writes_nowhere_else(tmp_path):
    archive = tmp_path / "bad.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for name in ("../outside.log", str(tmp_path / "absolute.log"), "inside.log"):
            member = tarfile.TarInfo(name)
            member.size = len(STEPS)
            packed.addfile(member, io.BytesIO(STEPS.encode()))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    with open_input(archive) as given:
        assert [log.name for log in given.logs if log.name == "inside.log"]
        assert not [log.name for log in given.logs if ".." in log.name]
        assert "link.log" not in [log.name for log in given.logs]
    assert not (tmp_path / "absolute.log").exists()
    assert not list(tmp_path.parent.glob("outside.log"))


def test_a_packed_log_is_unpacked(tmp_path):
    log = tmp_path / "train.log.gz"
    log.write_bytes(gzip.compress(b"OSError: [Errno 28] No space left on device\n"))

    assert diagnose_file(log).verdict.cause == "disk.full"


@pytest.mark.parametrize("cut", [3, 40])
def test_a_torn_archive_is_an_answer(tmp_path, cut):
    log = tmp_path / "run.tar.gz"
    log.write_bytes(gzip.compress(STEPS.encode() * 50)[:cut])

    with pytest.raises(InputError):
        diagnose_file(log)


def test_the_logs_of_an_output_folder_are_read_in_the_order_of_time(tmp_path):
    (tmp_path / "v0" / "checkpoint-8").mkdir(parents=True)
    (tmp_path / "v0" / "logging.jsonl").write_text('{"loss": 2.1, "grad_norm": 1.0}\n')
    (tmp_path / "v0" / "checkpoint-8" / "trainer_state.json").write_text('{"global_step": 8, "max_steps": 24}')
    (tmp_path / "rank_0.err").write_text("OSError: [Errno 122] Disk quota exceeded\n")
    seen = diagnose_file(tmp_path)

    assert seen.verdict.cause == "disk.quota"
    assert seen.verdict.evidence[0].source == "rank_0.err"


@pytest.mark.parametrize(("step", "cause"), [(24, NO_FAULT), (8, UNKNOWN)])
def test_the_state_that_was_saved_last_tells_whether_it_was_the_last(tmp_path, step, cause):
    (tmp_path / "trainer_state.json").write_text(f'{{"global_step": {step}, "max_steps": 24, "log_history": []}}')

    assert diagnose_file(tmp_path).verdict.cause == cause


def test_a_folder_without_a_log_says_what_was_looked_for(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")

    with pytest.raises(InputError) as told:
        diagnose_file(tmp_path)
    assert "*.log" in told.value.text.en


def test_how_far_the_reading_is_can_be_heard(tmp_path):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(STEPS * 50)
    heard = []
    with open_input(tmp_path) as given:
        for _ in given.read(lambda done, total: heard.append((done, total))):
            pass

    assert heard == [(len(STEPS) * 50, len(STEPS) * 100), (len(STEPS) * 100, len(STEPS) * 100)]


def damage(data, chance):
    """Change bytes of it, take some out, put some in, or cut it off."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 12)):
        place = chance.randrange(len(data) + 1)
        what = chance.randrange(4)
        if what == 0:
            data[place : place + 1] = bytes([chance.randrange(256)])
        elif what == 1:
            del data[place : place + chance.randint(1, 200)]
        elif what == 2:
            data[place:place] = chance.randbytes(20)
        else:
            del data[place:]
    return bytes(data)


@pytest.mark.parametrize("kind", ["gz", "bz2", ""])
def test_whatever_is_done_to_an_archive_it_is_an_answer(tmp_path, kind):
    run, archive, chance = write_run(tmp_path / "run", DIED), tmp_path / "run.tar", random.Random(7)
    with tarfile.open(archive, f"w:{kind}") as packed:
        packed.add(run, "run")
    sound = archive.read_bytes()
    for _ in range(300):
        archive.write_bytes(damage(sound, chance))
        with contextlib.suppress(InputError):
            assert diagnose_file(archive).verdict.cause


def test_whatever_is_done_to_a_record_it_is_an_answer(tmp_path):
    run, chance = write_run(tmp_path / "run", DIED, CHILD, FULL, THERE, code=0, oom_kills=1), random.Random(7)
    records = [run / "run.json", *run.glob("attempts/1/*.json"), *run.glob("attempts/1/events/*")]
    sound = {record: record.read_bytes() for record in records}
    values = [b"null", b'"text"', b"[1]", b"{}", b"-1e400", b"true"]
    for _ in range(500):
        for record, data in sound.items():
            changed = re.sub(rb"-?\d+\.?\d*", lambda found: chance.choice([found.group(), *values]), data)
            record.write_bytes(changed if chance.random() < 0.5 else damage(data, chance))
        assert diagnose_file(run).verdict.cause
