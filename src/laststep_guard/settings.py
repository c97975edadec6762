"""What was the guard told to do?"""

import json
import os
from dataclasses import asdict, dataclass
from typing import Mapping, Optional, Tuple

from laststep_guard import wire


@dataclass(frozen=True)
class Settings:
    """The guard's orders, as laststep put them into the environment of the command."""

    run_id: str
    beats_dir: Optional[str] = None  # None: nothing could be written, beats and events are dropped
    events_dir: Optional[str] = None
    states_dir: Optional[str] = None  # where a rank leaves what an exact resume needs, at each save
    fingerprints_dir: Optional[str] = None  # where a rank tells what each step was made of
    requests_dir: Optional[str] = None  # where the holder asks for saves
    resume_states_dir: Optional[str] = None  # the states that this attempt goes on from
    resume_from: Optional[str] = None  # a checkpoint for a trainer whose command has no flag for it
    guards_off: Tuple[str, ...] = ()
    fixes_off: Tuple[str, ...] = ()
    allow: str = "equivalent"  # the strongest class of change applied without being asked for

    def wants_guard(self, name: str) -> bool:
        return name not in self.guards_off

    def wants_fix(self, name: str, remedy_class: str) -> bool:
        allowed = wire.REMEDY_CLASSES.index(remedy_class) <= wire.REMEDY_CLASSES.index(self.allow)
        return allowed and name not in self.fixes_off


def write_settings(settings: Settings) -> str:
    """Write settings as the value of `wire.ENVIRONMENT`."""
    return json.dumps(asdict(settings), ensure_ascii=True, separators=(",", ":"))


def read_settings(environment: Mapping[str, str] = os.environ) -> Optional[Settings]:
    """Read the settings; None when laststep did not start this process. Raises ValueError when garbled."""
    text = environment.get(wire.ENVIRONMENT)
    if not text:
        return None
    values = json.loads(text)
    for name in ("guards_off", "fixes_off"):
        values[name] = tuple(values.get(name, ()))
    known = Settings.__dataclass_fields__
    return Settings(**{name: value for name, value in values.items() if name in known})
