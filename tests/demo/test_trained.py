"""What a training left, to the last bit."""

import json
import struct

from laststep.demo.trained import have_same_tensors, largest_difference, read_tensors, read_trained


def write_adapter(path, values, metadata=None):
    data = struct.pack(f"<{len(values)}f", *values)
    header = {"lora.weight": {"dtype": "F32", "shape": [len(values)], "data_offsets": [0, len(data)]}}
    if metadata:
        header["__metadata__"] = metadata
    encoded = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)
    return path


def write_log(folder, lines):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "logging.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def test_losses_come_at_full_precision_once_the_run_is_over(tmp_path):
    """Log lines are rounded to eight digits; the history at the end is not."""
    history = [{"loss": 2.3061835765838623, "step": 1}, {"eval_loss": 1.0, "step": 1}, {"loss": 2.0, "step": 2}]
    write_log(
        tmp_path / "v0-1",
        [
            {"loss": 2.30618358, "global_step/max_steps": "1/2"},
            {"loss": 2.0, "global_step/max_steps": "2/2"},
            {"train_runtime": 3.5, "global_step/max_steps": "2/2"},
            {"log_history": history},
        ],
    )

    trained = read_trained(tmp_path)

    assert trained.losses == (2.3061835765838623, 2.0)
    assert (trained.steps, trained.train_seconds) == (2, 3.5)


def test_a_run_that_goes_on_has_its_steps_so_far(tmp_path):
    write_log(tmp_path / "v0-1", [{"loss": 2.0, "global_step/max_steps": "7/14"}])
    trained = read_trained(tmp_path)
    assert (trained.steps, trained.train_seconds, trained.checkpoints) == (7, None, ())


def test_a_run_that_wrote_nothing_is_no_error(tmp_path):
    trained = read_trained(tmp_path / "nothing")
    assert (trained.steps, trained.losses, trained.adapter) == (0, (), None)


def test_checkpoints_are_ordered_by_step(tmp_path):
    for step in (5, 14, 10):
        write_adapter(tmp_path / "v0-1" / f"checkpoint-{step}" / "adapter_model.safetensors", [1.0])
    trained = read_trained(tmp_path)
    assert trained.checkpoints == (5, 10, 14)
    assert trained.adapter == tmp_path / "v0-1" / "checkpoint-14" / "adapter_model.safetensors"


def test_adapters_are_compared_by_their_tensors(tmp_path):
    """Metadata may differ; a single bit of a weight may not."""
    ours = write_adapter(tmp_path / "a", [1.0, 2.0], {"format": "pt"})
    same = write_adapter(tmp_path / "b", [1.0, 2.0])
    other = write_adapter(tmp_path / "c", [1.0, 2.0000002])

    assert read_tensors(ours)["lora.weight"][:2] == ("F32", (2,))
    assert have_same_tensors(ours, same)
    assert not have_same_tensors(ours, other)
    assert not have_same_tensors(ours, None)


def test_runs_of_different_length_are_infinitely_far_apart(tmp_path):
    write_log(tmp_path / "a" / "v0-1", [{"loss": 2.0, "global_step/max_steps": "1/2"}])
    ours, theirs = read_trained(tmp_path / "a"), read_trained(tmp_path / "b")
    assert largest_difference(ours, ours) == 0
    assert largest_difference(ours, theirs) == float("inf")
