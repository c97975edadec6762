"""Random states come back from JSON as they were, and nothing in the text can run."""

import json
import random

import numpy as np
import pytest

from laststep_guard.guards.state_text import read_state, write_state


def there_and_back(value):
    return read_state(json.loads(json.dumps(write_state(value))))


def test_states_of_every_generator_come_back():
    legacy = np.random.RandomState(3)
    states = {
        "python": random.Random(1).getstate(),
        "torch": bytes(range(256)) * 4,
        "own": {("dataset", "generator"): ("numpy.Generator.PCG64", np.random.default_rng(5).bit_generator.state)},
        "none": None,
        "nan-free": [1.5, True, -(2**200)],
    }

    back = there_and_back(states)
    numpy_back = there_and_back(legacy.get_state())

    assert back == states
    assert type(back["own"][("dataset", "generator")]) is tuple
    expected = legacy.random(5)
    other = np.random.RandomState(0)
    other.set_state(numpy_back)
    assert (other.random(5) == expected).all()


def test_what_is_no_state_is_not_written():
    with pytest.raises(TypeError, match="a object is no part of a random state"):
        write_state({"a": object()})


@pytest.mark.parametrize("text", ['{"call": ["os.system", "x"]}', '{"bytes": "", "tuple": []}', "{}"])
def test_what_was_not_written_here_is_refused(text):
    with pytest.raises(ValueError, match="no random state"):
        read_state(json.loads(text))


def test_an_array_of_objects_is_refused():
    """NumPy would take its bytes for addresses."""
    with pytest.raises(ValueError, match="array of objects"):
        read_state({"array": ["|O", [1], "AAAAAAAAAAA="]})
