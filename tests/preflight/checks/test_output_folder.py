from dataclasses import replace

import pytest

from fakes.machine import GIB, FakeMachine
from laststep.host.machine import Place, Space
from laststep.preflight.checks.output_folder import CHECK
from laststep.records.finding import Severity
from laststep.records.plan import Plan

PLAN = Plan(output_dir="/work/output/run")
ROOMY = Place(path="/work/output", is_writable=True, is_folder=True, space=Space(500 * GIB, 400 * GIB, 1_000_000))


def judge(plan=PLAN, **changed):
    found = [finding.severity for finding in CHECK.look(plan, FakeMachine(place=replace(ROOMY, **changed)))]
    assert len(found) < 2
    return found[0] if found else None


def test_a_writable_folder_with_room_raises_nothing():
    assert judge() is None


@pytest.mark.parametrize("changed", [{"is_writable": False}, {"is_folder": False}])
def test_a_folder_that_cannot_be_written_blocks(changed):
    """The training ends at its first save, hours later."""
    assert judge(**changed) is Severity.BLOCKER


@pytest.mark.parametrize("space", [Space(500 * GIB, 0, 1_000_000), Space(500 * GIB, 400 * GIB, 0)])
def test_a_disk_without_bytes_or_without_inodes_is_told(space):
    assert judge(space=space) in {Severity.BLOCKER, Severity.WARNING}


def test_a_command_that_names_no_folder_could_not_be_judged():
    assert judge(Plan()) is Severity.UNKNOWN


def test_a_folder_that_cannot_be_looked_at_could_not_be_judged():
    (found,) = CHECK.look(PLAN, FakeMachine(place=None))
    assert found.severity is Severity.UNKNOWN
