"""What a rank left is found again by the same rank of the same world, whole or not at all."""

import json

import pytest

from laststep_guard import wire
from laststep_guard.guards.resume_states import read_resume, write_states


def test_a_rank_finds_what_it_left(tmp_path):
    write_states(str(tmp_path), 5, 1, {"world_size": 2, "position": {"consumed": 10}})

    resume = read_resume(str(tmp_path), 5, 1, 2)

    assert resume.position == {"consumed": 10}
    assert resume.is_loader_waiting
    assert [path.name for path in tmp_path.iterdir()] == [wire.states_name(5, 1)]


def test_of_another_world_nothing_is_set_back(tmp_path):
    write_states(str(tmp_path), 5, 0, {"world_size": 2, "position": {"consumed": 10}})

    resume = read_resume(str(tmp_path), 5, 0, 1)

    assert resume.position == {}
    assert not resume.is_loader_waiting
    assert resume.lost == ["the random states: 2 ranks left them"]


def test_where_nothing_was_left_it_is_said(tmp_path):
    (tmp_path / wire.states_name(6, 0)).write_text("{torn")

    assert read_resume(str(tmp_path), 5, 0, 1).lost
    assert read_resume(str(tmp_path), 6, 0, 1).lost


def test_a_run_that_begins_at_its_first_step_goes_on_from_nothing(tmp_path):
    assert read_resume(str(tmp_path), 0, 0, 1) is None
    assert read_resume(None, 5, 0, 1) is None


def test_what_cannot_be_written_leaves_no_half_file(tmp_path):
    with pytest.raises(TypeError):
        write_states(str(tmp_path), 5, 0, {"bad": object()})

    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_nothing_is_written():
    write_states(None, 5, 0, {"bad": object()})


def test_the_file_says_whose_it_is(tmp_path):
    write_states(str(tmp_path), 5, 3, {})

    values = json.loads((tmp_path / wire.states_name(5, 3)).read_text())

    assert (values["step"], values["rank"], values["version"]) == (5, 3, 1)
