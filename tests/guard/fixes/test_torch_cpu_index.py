"""Can what several ranks on a CPU saved be loaded again?"""

import pytest


@pytest.mark.slow
def test_a_storage_is_loaded_to_a_numbered_cpu_and_nowhere_else(drive):
    stock, before, fixed, told, elsewhere = drive("load_to_cpu_index.py")
    assert "don't know how to restore" in stock, "torch knows the place by itself now: the fix can go"
    assert before == []  # nobody is told of it before it has helped
    assert fixed == [[0.0, 1.0, 2.0]] * 2
    assert told == [["fix_applied", "torch-cpu-index"]]
    assert elsewhere == "refused"
