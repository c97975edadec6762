"""At which step do all ranks save, when somebody asks for it?

Without a collective: the holder proposes a step that no rank has ended yet. Each rank sees the proposal at the end of
a step, answers in its beat whether it is in time, and at the proposed step it waits, a while, for the decision. All
wait at the same place, so nobody waits for one that is held elsewhere; and a decision is made once, by whoever comes
first, so a rank that has waited long enough can decide against it for all.
"""

import json
import os
import time
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from laststep_guard.guards.heartbeat import Heartbeat
from laststep_guard.wire import PROPOSAL_NAME, decide, read_decision

_LOOK_SECONDS = 0.005
_LONGEST_WAIT_SECONDS = 30.0  # at the proposed step; a save's own collectives would make ranks wait as well


@dataclass(frozen=True)
class Proposal:
    """A save at the end of a step, and whether the training stops after it."""

    number: int
    step: int
    stop: bool


class Agreement:
    """One rank's part in it. Raises OSError where the folder cannot be read or written."""

    def __init__(self, folder: str, *, clock: Any = time) -> None:
        self._folder = folder
        self._path = os.path.join(folder, PROPOSAL_NAME)
        self._clock = clock
        self._seen: Tuple[int, ...] = ()
        self._number = 0
        self._pending: Optional[Proposal] = None

    def look(self, step: int, heartbeat: Heartbeat) -> Optional[Proposal]:
        """At the end of a step: give the proposal that was decided for this step, if there is one."""
        self._look_for_news(step, heartbeat)
        if self._pending is None or step < self._pending.step:
            return None
        pending, self._pending = self._pending, None
        return pending if self._wait_for_decision(pending.number) else None

    def _look_for_news(self, step: int, heartbeat: Heartbeat) -> None:
        try:
            status = os.stat(self._path)  # the step path: one call to the kernel
        except OSError:
            return
        seen = (status.st_mtime_ns, status.st_ino)
        if seen == self._seen:
            return
        self._seen = seen
        proposal = _read(self._path)
        if proposal is None or proposal.number <= self._number:
            return
        self._number = proposal.number
        is_in_time = step <= proposal.step
        self._pending = proposal if is_in_time else None
        heartbeat.answer = proposal.number if is_in_time else -proposal.number
        heartbeat.beat()

    def _wait_for_decision(self, number: int) -> bool:
        waited = 0.0
        while waited < _LONGEST_WAIT_SECONDS:
            decision = read_decision(self._folder, number)
            if decision is not None:
                return decision
            self._clock.sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS
        return decide(self._folder, number, wanted=False)


def _read(path: str) -> Optional[Proposal]:
    try:
        with open(path, encoding="ascii") as file:
            values = json.load(file)
        return Proposal(int(values["number"]), int(values["step"]), bool(values["stop"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
