"""How does a loader with workers go on in the middle of an epoch?

Its first batch is not number 0, so the slot whose turn it is builds it; every slot continues from the random states it
had then, and one that had built nothing yet is seeded as it was the first time.
"""

import weakref
from typing import Any, Dict, Optional

from laststep_guard.frameworks.torch_positions import (
    SlotPosition,
    find_waiting,
    is_training,
    read_captured,
    write_captured,
)
from laststep_guard.guardian import Guardian
from laststep_guard.guards.slots import SlotPlan


class TakingUp:
    """Mixed into the engine, which owns everything that is named here."""

    _guardian: Guardian
    _plan: SlotPlan
    _position: Optional[SlotPosition]
    _base_seed: int
    _num_workers: int
    _persistent_workers: bool
    _is_iterable: bool
    _label: str
    _taken_up: Dict[str, Any]

    def _take_up(self) -> None:
        """Look whether this loader goes on from a save, and take its seed over if so."""
        self._position, self._taken_up = None, {}
        if not self._guardian.settings.wants_guard("resume") or self._guardian.state.trainer is None:
            return
        waiting = find_waiting(self._guardian, self) if self._label == "train" else self._find_evaluation()
        if not waiting:
            return
        if len(waiting.get("slots", ())) != self._num_workers:
            before = len(waiting.get("slots", ()))
            self._guardian.state.resume.lost.append(  # type: ignore[union-attr]  # it is there when something waits
                f"the random states of the loader's workers: {before} before, {self._num_workers} now"
            )
            return
        self._base_seed, self._taken_up = waiting["base_seed"], waiting

    def _find_evaluation(self) -> Optional[Dict[str, Any]]:
        """Find where the workers of an evaluation go on that live as long as the training."""
        state = self._guardian.state
        if not self._persistent_workers:
            return None
        number = len(state.evaluations)
        state.evaluations.append(weakref.ref(self))
        known = state.resume.values.get("evaluations", ()) if state.resume is not None else ()
        return {"consumed": 0, **known[number]} if number < len(known) else None

    def _begin_epoch(self) -> None:
        """Begin an epoch, or go on in one."""
        taken_up, self._taken_up = self._taken_up, {}
        # What an iterable data set has yielded is read again from its beginning, which brings the states with it.
        first = 0 if self._is_iterable else int(taken_up.get("consumed", 0))
        self._plan.begin_epoch(first)
        if taken_up and not self._is_iterable:
            self._plan.set_states(read_captured(taken_up["slots"]))
        if self._label != "train":
            return
        self._guardian.state.handed_over.clear()
        if is_training(self._guardian):
            self._position = self._guardian.state.position = SlotPosition(self, first)

    @property
    def _goes_on_between_epochs(self) -> bool:
        """True when workers that outlive an epoch are set up anew: torch would not have drawn a seed for them."""
        return bool(self._taken_up) and not self._taken_up.get("consumed")

    def describe_position(self, number: int) -> Dict[str, Any]:
        """Tell what the batch `number` and all after it depend on."""
        return {
            "base_seed": self._base_seed,
            "slots": write_captured(self._plan.states_before(number)),
            "is_persistent": self._persistent_workers,
        }
