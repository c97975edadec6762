"""The checks that compare one reading with one setting."""

from fakes.machine import GIB, FakeMachine
from laststep.host.machine import Space
from laststep.preflight.checks import open_files, port, resumable, shared_memory
from laststep.records.finding import Severity
from laststep.records.plan import Plan
from laststep.records.settings import Setting, Settings


def plan(environment=None, **values):
    named = {Setting[name.upper()]: value for name, value in values.items()}
    return Plan(settings=Settings(values=named, environment=environment or {}), output_dir="/work/output")


def look(check, plan, machine):
    """The one finding; None where the check has nothing to say."""
    found = list(check.CHECK.look(plan, machine))
    assert len(found) < 2
    return found[0] if found else None


def test_a_container_with_its_default_of_64_mib_is_too_small_for_four_workers():
    small = FakeMachine(shared_memory=Space(64 << 20, 64 << 20))

    found = look(shared_memory, plan(loader_workers="4"), small)

    assert found.severity is Severity.WARNING
    assert "64 of 64 MiB" in found.detail.en
    assert found.cured_by == ("memory-budget",)


def test_full_shared_memory_blocks():
    full = FakeMachine(shared_memory=Space(64 << 20, 1 << 20))
    assert look(shared_memory, plan(loader_workers="4"), full).severity is Severity.BLOCKER


def test_one_rank_without_workers_needs_no_shared_memory():
    full = FakeMachine(shared_memory=Space(64 << 20, 0))
    assert look(shared_memory, plan(loader_workers="0"), full) is None


def test_enough_shared_memory_raises_nothing():
    assert look(shared_memory, plan(loader_workers="8", ranks="8"), FakeMachine()) is None


def test_few_open_files_are_told():
    found = look(open_files, plan(loader_workers="16"), FakeMachine(open_files_limit=1024))
    assert found.severity is Severity.WARNING
    assert "1024" in found.detail.en


def test_no_limit_of_open_files_raises_nothing():
    assert look(open_files, plan(loader_workers="16"), FakeMachine(open_files_limit=None)) is None


def test_a_taken_port_blocks_and_another_one_is_written():
    found = look(port, plan(ranks="2", port="29511"), FakeMachine(taken_ports=(29511,)))
    assert found.severity is Severity.BLOCKER
    assert found.change == "free_port"


def test_the_port_of_torch_counts_where_several_ranks_name_none():
    taken = FakeMachine(taken_ports=(29500,))
    assert look(port, plan(ranks="2"), taken).severity is Severity.BLOCKER
    assert look(port, plan(ranks="1"), taken) is None


def test_weights_alone_cannot_be_resumed_from():
    found = look(resumable, plan(model_only="true"), FakeMachine())
    assert found.change == "save_whole_checkpoints"


def test_a_save_beyond_the_last_step_is_told_with_both_numbers():
    found = look(resumable, plan(save_steps="500", max_steps="100"), FakeMachine())
    assert "500" in found.detail.en
    assert "100" in found.detail.en


def test_saves_within_the_run_raise_nothing():
    assert look(resumable, plan(save_steps="50", max_steps="100"), FakeMachine()) is None


def test_room_of_gib_is_read_in_gib():
    """The fake itself is roomy, or the other tests would show nothing."""
    assert FakeMachine().place.space.free_bytes == 400 * GIB
