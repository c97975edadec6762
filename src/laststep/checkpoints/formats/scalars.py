"""Which numbers do tensors of a single element hold?"""

import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from laststep.checkpoints.formats.list_tensors import read_tensor
from laststep.checkpoints.formats.pickle_values import Built

_FORMS = {"F32": "<f", "F64": "<d", "I64": "<q", "I32": "<i"}
MOST = 4096  # steps of an optimiser; a model has other single elements, which nobody asks for


def read_scalars(file: BinaryIO, value: Any, places: Mapping[str, int]) -> Any:
    """Put the number in place of each `step` tensor of an optimiser's state; the rest stays as it is."""
    left = MOST
    for state in _optimiser_states(value):
        if isinstance(state, dict) and isinstance(state.get("step"), Built) and left:
            left -= 1
            number = _read_one(file, state["step"], places)
            if number is not None:
                state["step"] = number
    return value


def _optimiser_states(value: Any) -> list[Any]:
    found = value
    # DeepSpeed wraps the state of the optimiser that it partitions, each stage of ZeRO in its own way.
    for name in ("optimizer_state_dict", "base_optimizer_state", "optimizer_state_dict"):
        if isinstance(found, dict) and isinstance(found.get(name), dict):
            found = found[name]
    states = found.get("state") if isinstance(found, dict) else None
    return list(states.values()) if isinstance(states, dict) else []


def _read_one(file: BinaryIO, tensor: Built, places: Mapping[str, int]) -> float | None:
    place = read_tensor(tensor, places)
    form = _FORMS.get(place.dtype) if place is not None else None
    if place is None or form is None or place.end - place.begin != struct.calcsize(form):
        return None
    file.seek(place.begin)
    data = file.read(struct.calcsize(form))
    return float(struct.unpack(form, data)[0]) if len(data) == struct.calcsize(form) else None
