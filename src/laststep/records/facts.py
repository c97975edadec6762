"""What is known about an attempt when it is over?"""

from dataclasses import dataclass

from laststep.records.ending import Ending
from laststep.records.event import Event
from laststep_guard import wire


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFacts:
    """Everything that the outcome, the exit code and the last report are made of."""

    ending: Ending | None  # None: the holder was killed
    beats: tuple[wire.Beat, ...]
    events: tuple[Event, ...]
