"""What does a pickle speak of, where it is not plain data?"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Global:
    """A name that loading would import. It is never imported here."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Built:
    """An object that loading would build by a call. Nothing is called here."""

    made_by: Global
    arguments: tuple[Any, ...] = ()
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)  # of a mapping
    entries: list[Any] = field(default_factory=list)  # of a list or a set


@dataclass(frozen=True, slots=True, eq=False)
class Persistent:
    """Something that lies outside the pickle; for torch: ("storage", class, key, location, count of elements)."""

    identity: Any


def plain_attributes(value: Any) -> dict[str, Any]:
    """Give the attributes an object would get from its state."""
    state = value.state if isinstance(value, Built) else None
    if isinstance(state, tuple) and len(state) == 2:  # of a class with slots
        state = (
            {**(state[0] or {}), **(state[1] or {})}
            if all(isinstance(part, dict | type(None)) for part in state)
            else {}
        )
    return state if isinstance(state, dict) else {}


def as_mapping(value: Any) -> dict[Any, Any]:
    """Give the items of a dictionary, or of an object that would be one."""
    if isinstance(value, dict):
        return value
    return value.items if isinstance(value, Built) else {}
