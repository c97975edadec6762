"""How far has the trainer come in its data, and which random states go with that?

Loaders read ahead: what counts is the batch that the trainer takes next. A loader with workers knows the random states
of each slot before that batch. One without builds its batches in the trainer's own process, and there the states are
noted before each batch, so that one that was built ahead of a save can be built again from where it came.
"""

import pickle
import weakref
from collections import deque
from typing import Any, Deque, Dict, List, Optional

from laststep_guard.guardian import Guardian
from laststep_guard.guards.random_states import RandomStates
from laststep_guard.guards.state_text import read_state, write_state

_KEPT = 4  # batches that may have been built ahead of the trainer


class SlotPosition:
    """The position of a loader with workers; `engine` is its iterator, `first` the batch that its epoch begins with."""

    def __init__(self, engine: Any, first: int) -> None:
        # Only weakly: the iterator ends its workers when the trainer lets go of it.
        self._engine = weakref.ref(engine)
        self.handed = first  # batches of this epoch, those before a resume included

    def describe(self, number: int) -> Dict[str, Any]:
        """Tell what the batch `number` and all after it depend on; nothing when the loader is gone."""
        engine = self._engine()
        return {} if engine is None else engine.describe_position(number)


class OwnPosition:
    """The position of a loader that builds its batches in the trainer's process."""

    def __init__(self, dataset: Any, collate_fn: Any, waiting: Dict[str, Any]) -> None:
        self._states = RandomStates({"dataset": dataset, "collate_fn": collate_fn})
        self._before: Deque[Any] = deque(maxlen=_KEPT)  # (number, states before it)
        self._ahead = deque(read_captured(waiting.get("ahead", ())))  # before the batches built ahead of the save
        self._at_save = read_captured([waiting.get("at_save")])[0]
        self.handed = int(waiting.get("consumed", 0))

    @property
    def is_behind(self) -> bool:
        """True while batches have to be built again that had been built before the save."""
        return bool(self._ahead)

    def catch_up(self) -> None:
        """Set back, once, the generators that the data set and the collator own to what they were at the save."""
        state, self._at_save = self._at_save, None
        if state is not None:
            self._states.restore_own(state)

    def begin_batch(self) -> None:
        """Note the states before a batch, or set them back to what they were before it the first time."""
        if self._ahead:
            state = self._ahead.popleft()
            if state is not None:
                self._states.restore(state)
        self._before.append((self.handed, self._states.capture()))
        self.handed += 1

    def describe(self, number: int) -> Dict[str, Any]:
        """Tell from which states the batches from `number` on that are already there were built."""
        ahead = [state for at, state in self._before if at >= number]
        return {"ahead": write_captured(ahead), "at_save": write_captured([self._states.capture()])[0]}


def write_captured(states: List[Optional[bytes]]) -> List[Any]:
    """Write states that this process or a worker of its own captured a moment ago."""
    return [None if state is None else write_state(pickle.loads(state)) for state in states]  # noqa: S301  # our own


def read_captured(texts: Any) -> List[Optional[bytes]]:
    """Read states back, as `RandomStates.restore` takes them."""
    return [None if text is None else pickle.dumps(read_state(text), pickle.HIGHEST_PROTOCOL) for text in texts]


def find_waiting(guardian: Guardian, iterator: Any) -> Optional[Dict[str, Any]]:
    """Find the position that a training loader which is just made goes on from; None for any other loader."""
    state = guardian.state
    resume = state.resume
    if resume is None or not resume.is_loader_waiting or not is_training(guardian):
        return None
    resume.is_loader_waiting = False
    position = resume.position
    skipped = _find_skipped(iterator)
    if position and skipped is not None and skipped != position.get("consumed"):
        resume.lost.append(f"the loader's states: it goes on at batch {skipped}, not {position.get('consumed')}")
        return None
    return position or None


def is_training(guardian: Guardian) -> bool:
    """Tell whether a loader that is made now is the one that is trained with."""
    return guardian.state.trainer is not None and not guardian.state.is_evaluating


def _find_skipped(iterator: Any) -> Optional[int]:
    """Find how many batches a loader leaves out at its beginning; None where nobody says."""
    skipped = getattr(iterator._index_sampler, "skip_batches", None)  # noqa: SLF001  # torch's own name
    return skipped if isinstance(skipped, int) else None
