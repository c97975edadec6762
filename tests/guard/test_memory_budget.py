"""What is in flight is bounded in bytes."""

from hypothesis import given
from hypothesis import strategies as st

from laststep_guard.guards.memory_budget import Load, MemoryBudget
from laststep_guard.guards.memory_readings import MemoryReading

GB = 1 << 30
IDLE = Load(waiting=0, held=0, will_hold=1)


def reading(free: float, limit: float = 16, shm: float = 64) -> MemoryReading:
    return MemoryReading(int(free * GB), "cgroup", int(limit * GB), int(shm * GB))


def measured(batch: float, worker: float, step: float | None = 0) -> MemoryBudget:
    budget = MemoryBudget()
    budget.note_batch(int(batch * GB), int(worker * GB))
    if step is not None:
        budget.note_step(int(step * GB))
    return budget


def test_it_begins_with_one_batch():
    """Before anything was weighed, one batch is in flight."""
    allowance = MemoryBudget().allow(reading(16), IDLE, most_in_flight=8, most_processes=4)

    assert (allowance.in_flight, allowance.processes, allowance.is_measured) == (1, 1, False)


def test_light_batches_open_up_to_what_stock_would_have():
    """A loader whose batches weigh nothing is not held back."""
    allowance = measured(0.001, 0.003).allow(reading(8), IDLE, most_in_flight=8, most_processes=4)

    assert (allowance.in_flight, allowance.processes) == (8, 4)


def test_heavy_batches_are_built_one_at_a_time():
    """The reported run: 2 GB a batch, 4 GB to build it, 7 GB in all."""
    allowance = measured(2, 4).allow(reading(6, limit=7), IDLE, most_in_flight=8, most_processes=4)

    assert (allowance.in_flight, allowance.processes) == (1, 1)


def test_what_the_trainer_will_hold_counts():
    """All micro-batches of an accumulation lie in the trainer before the step begins."""
    budget = measured(1, 1)
    light = budget.allow(reading(16, limit=18), IDLE, most_in_flight=8, most_processes=4)
    heavy = budget.allow(
        reading(16, limit=18), Load(waiting=0, held=0, will_hold=8), most_in_flight=8, most_processes=4
    )

    assert heavy.in_flight < light.in_flight


def test_what_a_step_takes_counts():
    """Activations are not there while the trainer fetches, and must still fit later."""
    without = measured(1, 1, step=0).allow(reading(10), IDLE, most_in_flight=8, most_processes=4)
    with_step = measured(1, 1, step=6).allow(reading(10), IDLE, most_in_flight=8, most_processes=4)

    assert with_step.in_flight < without.in_flight


def test_shared_memory_is_a_limit_of_its_own():
    """In a container with 64 MB of /dev/shm, that is what counts."""
    allowance = measured(0.03, 0.03).allow(reading(16, shm=0.0625), IDLE, most_in_flight=8, most_processes=4)

    assert allowance.in_flight == 1


def test_ranks_share_what_is_left():
    """Two ranks on one machine may each take half."""
    budget = measured(1, 1)
    alone = budget.allow(reading(10), IDLE, most_in_flight=8, most_processes=4)
    shared = budget.allow(
        reading(10), Load(waiting=0, held=0, will_hold=1, ranks=2), most_in_flight=8, most_processes=4
    )

    assert shared.in_flight <= alone.in_flight // 2 + 1


@given(
    free=st.floats(0, 64),
    batch=st.floats(0.001, 8),
    extra=st.floats(0, 8),
    step=st.floats(0, 8),
    waiting=st.integers(0, 8),
    held=st.integers(0, 8),
)
def test_one_batch_is_always_allowed_and_the_rest_fits(free, batch, extra, step, waiting, held):
    """Whatever is left, the training is not stopped; and what is opened up beyond one batch fits into what is left."""
    budget = measured(batch, batch + extra, step)
    load = Load(waiting=waiting, held=held, will_hold=8)

    allowance = budget.allow(reading(free, limit=64), load, most_in_flight=8, most_processes=4)

    assert 1 <= allowance.in_flight <= 8
    assert 1 <= allowance.processes <= 4
    new = max(0, allowance.in_flight - waiting)
    if (allowance.in_flight, allowance.processes) != (1, 1) and new > 1:
        needed = new * batch + min(new, allowance.processes) * extra + step + max(0, 8 - held) * batch
        assert needed <= free
