"""The logs of trainings that were really broken name what was done to them; `bench/accuracy.py` makes them."""

import pytest

from faults import missing_image, swift_worker_killed, torn_optimizer
from faults.catalog import FAULTS, name_of
from faults.scene import PROJECT, Scene
from laststep.diagnosis.diagnose import diagnose, diagnose_file, read_command
from laststep.diagnosis.read_log import clean, open_text
from laststep.failures.catalog import load_failures

KEPT = PROJECT / "tests" / "logs" / "failed"


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_a_kept_log_names_its_cause(fault):
    log = KEPT / f"{name_of(fault)}.log"
    seen = diagnose_file(log, command=read_command(log.with_suffix(".command")))

    assert seen.verdict.cause == fault.CAUSE, (seen.verdict, seen.alternatives)
    lines = [clean(line) for line in log.read_bytes().split(b"\n")]
    for evidence in seen.verdict.evidence:
        assert evidence.line is None or evidence.text in lines[evidence.line - 1]


def test_every_fault_is_listed_and_no_log_is_left_over():
    files = (PROJECT / "tests" / "faults").glob("*.py")
    modules = {file.stem.replace("_", "-") for file in files} - {"--init--", "scene", "catalog"}
    assert modules == {name_of(fault) for fault in FAULTS} == {log.stem for log in KEPT.glob("*.log")}
    assert all(fault.CAUSE in load_failures() for fault in FAULTS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [missing_image, swift_worker_killed, torn_optimizer], ids=name_of)
def test_a_fault_that_is_made_now_is_named(fault, environments, tmp_path):
    environments("current")
    broken = fault.break_run(Scene(tmp_path))

    assert diagnose(open_text(broken.log), source="the log", command=broken.command).verdict.cause == fault.CAUSE
