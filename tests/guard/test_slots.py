"""The batches of a loader come in order and from the right random states, whatever happens to its processes."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from laststep_guard.guards.slots import SlotPlan, Task


class Worker:
    """A process in a model of the world: a state per slot, advanced by every batch it builds."""

    def __init__(self) -> None:
        self.states: dict[int, int] = {}
        self.todo: list[tuple[Task, int | None]] = []


class World:
    """Runs a plan against workers that die when the test says so. A batch is (slot, index, state before)."""

    def __init__(self, slots: int, batches: int) -> None:
        self.plan = SlotPlan(slots)
        self.workers = {key: Worker() for key in range(slots)}
        self.handed: list[tuple[int, int, int]] = []
        for index in range(batches):
            self.plan.add(index)

    def send(self) -> None:
        for task in self.plan.unsent():
            state = None
            if not task.slot.is_state_sent:
                state, task.slot.is_state_sent = task.slot.state_received or 0, True
            task.is_sent = True
            self.workers[task.slot.process].todo.append((task, state))

    def build(self, key: int) -> None:
        worker = self.workers[key]
        if not worker.todo:
            return
        task, state = worker.todo.pop(0)
        if state is not None:
            worker.states[task.slot.number] = state
        before = worker.states.get(task.slot.number, 0)
        worker.states[task.slot.number] = before + 1
        result = (task.slot.number, task.index, before)
        self.plan.receive(task.number, result=result, state_after=before + 1)

    def kill(self, key: int, *, while_building: bool = True) -> None:
        todo = self.workers[key].todo
        self.plan.lose(key, building=todo[0][0].number if todo and while_building else None)
        self.workers[key] = Worker()

    def merge(self, count: int) -> None:
        for slot in self.plan.slots:
            if not self.plan.owes(slot):
                self.plan.move(slot, slot.number % count)

    def hand_over(self) -> None:
        task = self.plan.hand_over()
        if task is not None:
            self.handed.append(task.result)


@settings(deadline=None)
@given(slots=st.integers(1, 5), batches=st.integers(0, 30), seed=st.integers(0, 2**32))
def test_whatever_dies_or_merges_the_batches_are_those_of_an_undisturbed_run(slots, batches, seed):
    """Order, assignment to slots and random states before every batch do not depend on deaths, merges or drops."""
    chance = random.Random(seed)
    world = World(slots, batches)

    while world.plan.head() is not None:
        world.send()
        key = chance.randrange(slots)
        match chance.randrange(7):
            case 0:
                world.kill(key)
            case 1:
                world.merge(chance.randint(1, slots))
            case 2 if not world.plan.building():
                world.plan.drop_results()
            case 3:
                world.kill(key, while_building=False)
            case 4:
                world.hand_over()
            case _:
                world.build(key)

    assert world.handed == [(index % slots, index, index // slots) for index in range(batches)]


def test_a_death_is_blamed_on_the_batch_that_was_begun():
    """Batches that only waited in the queue of a dead process are innocent."""
    world = World(1, 3)
    world.send()

    lost, blamed = world.plan.lose(0, building=0)

    assert [task.number for task in lost] == [0, 1, 2]
    assert blamed is lost[0]
    assert [task.deaths for task in lost] == [1, 0, 0]


def test_an_ended_slot_owes_nothing_and_is_passed_over():
    """An iterable data set that ends early leaves the order of the others as it was."""
    plan = SlotPlan(3)
    tasks = [plan.add(None) for _ in range(6)]

    plan.end_slot(tasks[1].number)
    more = [plan.add(None) for _ in range(2)]

    assert [task.slot.number for task in plan.tasks.values()] == [0, 2, 0, 2, 0, 2]
    assert [task.slot.number for task in more] == [0, 2]


def test_a_new_epoch_starts_at_slot_0_with_the_states_of_the_last():
    """Persistent workers go on with their random states; the order of slots starts anew."""
    world = World(2, 3)
    world.send()
    for key in (0, 1, 0):
        world.build(key)
    while world.plan.head():
        world.hand_over()

    world.plan.begin_epoch()
    task = world.plan.add(0)

    assert task.slot.number == 0
    assert [slot.state_received for slot in world.plan.slots] == [2, 1]


def test_states_before_a_batch_leave_out_what_was_handed_over_ahead():
    """A trainer that reads one batch ahead has not trained on it when it saves."""
    plan = SlotPlan(2)
    plan.begin_epoch()
    for number in range(5):
        task = plan.add(number)
        task.is_sent = True
        plan.receive(number, result=number, state_after=f"after {number}")
        plan.hand_over()

    assert plan.states_before(5) == ["after 4", "after 3"]
    assert plan.states_before(4) == ["after 2", "after 3"]
    assert plan.states_before(1) == ["after 0", None]


def test_an_epoch_that_is_taken_up_begins_with_the_slot_whose_turn_it_was():
    plan = SlotPlan(3)
    plan.begin_epoch(first=7)
    plan.set_states(["a", "b", None])

    tasks = [plan.add(index) for index in "xyz"]

    assert [(task.number, task.slot.number) for task in tasks] == [(7, 1), (8, 2), (9, 0)]
    assert [slot.is_state_sent for slot in plan.slots] == [False, False, True]
    assert plan.states_before(7) == ["a", "b", None]
