"""A data set whose content has changed is noticed."""

from laststep.supervisor.sample_inputs import sample_inputs


def test_a_file_is_known_by_its_size_its_begin_and_its_end(tmp_path):
    data = tmp_path / "rows.json"
    data.write_bytes(b"a" * 3_000_000)
    argv = ("swift", "sft", "--dataset", "rows.json", "--lr", "1")
    before = sample_inputs(argv, tmp_path)
    data.write_bytes(b"a" * 2_999_999 + b"b")

    after = sample_inputs(argv, tmp_path)

    assert set(before) == set(after) == {"rows.json"}
    assert before != after


def test_it_is_found_behind_an_equals_sign_and_before_a_number_of_rows(tmp_path):
    """ms-swift takes `FILE#500` for the first 500 rows."""
    (tmp_path / "rows.json").write_text("[]")

    assert set(sample_inputs(("x", "--dataset=rows.json", "rows.json#500"), tmp_path)) == {"rows.json", "rows.json#500"}


def test_folders_and_names_on_a_hub_are_left_aside(tmp_path):
    (tmp_path / "folder").mkdir()

    assert sample_inputs(("x", "folder", "org/data", "\0", "y" * 5000), tmp_path) == {}
