"""How does a loader without workers go on exactly?

Its batches are built in the trainer's own process, from the random states that the model draws from as well. After a
save the stock trainer draws on from the states of the save; on a resume it builds the first batches before it sets
them back. So they are set back before the first batch that had not been built when the save was made, and batches that
had been built ahead are built from what they were built from.
"""

from typing import Any

from laststep_guard.frameworks.torch_positions import OwnPosition, find_waiting, is_training
from laststep_guard.guardian import Guardian

_NAME = "_laststep_position"


def catch_up_own(guardian: Guardian, iterator: Any) -> None:
    """Set the states of the process back to those of the save, once everything built before it is there again."""
    position = _find_position(guardian, iterator)
    if position is None or position.is_behind:
        return
    load, guardian.state.load_random_states = guardian.state.load_random_states, None
    if load is not None:
        load()
    position.catch_up()


def begin_own_batch(guardian: Guardian, iterator: Any) -> None:
    """Note, or set back, the states that a batch is built from; called when its index has been drawn."""
    position = _find_position(guardian, iterator)
    if position is not None:
        position.begin_batch()


def _find_position(guardian: Guardian, iterator: Any) -> Any:
    if not is_training(guardian) or not guardian.settings.wants_guard("resume"):
        return None
    position = getattr(iterator, _NAME, None)
    if position is None:
        waiting = find_waiting(guardian, iterator) or {}
        position = OwnPosition(iterator._dataset, iterator._collate_fn, waiting)  # noqa: SLF001  # torch's names
        setattr(iterator, _NAME, position)
        guardian.state.position = position
    return position
