"""What did a training leave, to the last bit?"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Trained:
    """What ms-swift wrote into its output folder."""

    losses: tuple[float, ...]  # one a logged step, at full precision
    steps: int
    train_seconds: float | None  # the trainer's own count; None when it did not get to its end
    checkpoints: tuple[int, ...]  # their steps
    adapter: Path | None  # of the last checkpoint


def read_trained(output_dir: Path) -> Trained:
    """Read the newest run of an output folder. A run that never logged anything has no losses and step 0."""
    folder = max(output_dir.glob("v*-*"), default=output_dir)
    lines = _read_lines(folder / "logging.jsonl")
    whole = next((line["log_history"] for line in lines if "log_history" in line), None)
    logged = [line for line in (whole or lines) if "loss" in line]
    checkpoints = sorted(int(path.name.rpartition("-")[2]) for path in folder.glob("checkpoint-*"))
    adapter = folder / f"checkpoint-{checkpoints[-1]}" / "adapter_model.safetensors" if checkpoints else None
    return Trained(
        losses=tuple(line["loss"] for line in logged),
        steps=max((_step(line) for line in logged), default=0),
        train_seconds=next((line["train_runtime"] for line in lines if "train_runtime" in line), None),
        checkpoints=tuple(checkpoints),
        adapter=adapter if adapter is not None and adapter.exists() else None,
    )


def read_tensors(path: Path) -> Mapping[str, tuple[str, tuple[int, ...], bytes]]:
    """Read a safetensors file as bytes: name to dtype, shape and content. Neither torch nor NumPy takes part."""
    content = path.read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + header_bytes])
    data = memoryview(content)[8 + header_bytes :]
    return {
        name: (entry["dtype"], tuple(entry["shape"]), bytes(data[slice(*entry["data_offsets"])]))
        for name, entry in header.items()
        if name != "__metadata__"
    }


def have_same_tensors(ours: Path | None, theirs: Path | None) -> bool:
    """Compare two files of weights bit for bit; a missing one equals nothing."""
    return ours is not None and theirs is not None and read_tensors(ours) == read_tensors(theirs)


def largest_difference(ours: Trained, theirs: Trained) -> float:
    """Give the largest distance of two runs' losses; infinite when they have not the same number of steps."""
    if len(ours.losses) != len(theirs.losses) or not ours.losses:
        return float("inf")
    return max(abs(one - other) for one, other in zip(ours.losses, theirs.losses, strict=True))


def _read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [values for line in lines if line.startswith("{") and isinstance(values := _read_json(line), dict)]


def _read_json(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None  # torn: the disk was full, or it is being written


def _step(line: Mapping[str, object]) -> int:
    # `step` in the state the trainer keeps, `global_step/max_steps` in a line of its log.
    return int(str(line.get("step") or line.get("global_step/max_steps", "0")).partition("/")[0])
