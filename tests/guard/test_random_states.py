"""Random sources are found wherever a data set or collator keeps them, and set back."""

import functools
import random

from laststep_guard.guards.random_states import RandomStates


class Collator:
    """Makes a generator of its own when it is first used, as ms-swift's template does."""

    def draw(self):
        if not hasattr(self, "generator"):
            self.generator = random.Random(42)
        return self.generator.random()

    def __call__(self, rows):
        return self.draw()


class LazyLLMDataset:
    """Has the name and the counter of ms-swift's."""

    def __init__(self):
        self._idx = 0


def test_shared_and_owned_generators_go_on_from_where_they_were():
    dataset = {"inner": [random.Random(1)]}
    states = RandomStates({"dataset": dataset})
    captured = states.capture()
    expected = (random.random(), dataset["inner"][0].random())

    random.random()
    dataset["inner"][0].random()
    states.restore(captured)

    assert (random.random(), dataset["inner"][0].random()) == expected


def test_a_generator_behind_a_partial_and_a_bound_method_is_found():
    collator = Collator()
    collator.draw()
    states = RandomStates({"collate_fn": functools.partial(collator.__call__, None)})
    captured = states.capture()
    expected = collator.draw()

    states.restore(captured)

    assert collator.draw() == expected


def test_a_generator_that_did_not_exist_yet_is_made_again_by_its_maker():
    """Slot 1 of a merged process begins as a worker of its own would: without the generator that slot 0 has made."""
    collator = Collator()
    states = RandomStates({"collate_fn": collator})
    first = collator.draw()
    of_slot_0 = states.capture()

    states.restore_pristine()
    assert collator.draw() == first

    states.restore(of_slot_0)
    stock = random.Random(42)
    assert [first, collator.draw()] == [stock.random(), stock.random()]


def test_a_generator_is_made_in_a_process_that_never_had_it():
    """A rebuilt worker continues the generator that its predecessor had made."""
    old = Collator()
    states = RandomStates({"collate_fn": old})
    old.draw()
    captured = states.capture()
    expected = old.draw()

    new = Collator()
    RandomStates({"collate_fn": new}).restore(captured)

    assert new.draw() == expected


def test_the_counter_of_replacement_rows_follows():
    dataset = LazyLLMDataset()
    states = RandomStates({"dataset": dataset})
    dataset._idx = 5
    captured = states.capture()
    dataset._idx = 9

    states.restore(captured)

    assert dataset._idx == 5


def test_long_containers_and_cycles_end():
    loop: dict = {"rows": [object()] * 100_000}
    loop["self"] = loop

    assert RandomStates({"dataset": loop}).capture()
