"""How does an error of ours stay out of the training?

Every hook runs under one shield. Our own exception is caught, reported once per place and type, and the training goes
on as if the hook were not there. This is the guard's only `except Exception`.
"""

import contextlib
import functools
from typing import Any, Callable, Iterator, Optional, Set, Tuple, TypeVar

from laststep_guard import wire

Function = TypeVar("Function", bound=Callable[..., Any])


class Shield:
    """Catches what our hooks raise and reports each kind once."""

    def __init__(self, emit: Callable[..., None]) -> None:
        self._emit = emit
        self._reported: Set[Tuple[str, str]] = set()

    @contextlib.contextmanager
    def over(self, where: str) -> Iterator[None]:
        """Run a block of ours; its exceptions end here."""
        try:
            yield
        except Exception as error:  # the shield itself: nothing of ours may reach the training
            self.report(where, error)

    def report(self, where: str, error: BaseException) -> None:
        """Say once that our code failed at a place."""
        kind = (where, type(error).__name__)
        if kind in self._reported:
            return
        self._reported.add(kind)
        self._emit(wire.EventKind.GUARD_ERROR, where=where, error=kind[1], message=str(error)[:500])

    def wrap(self, where: str, function: Function, otherwise: Optional[Any] = None) -> Function:
        """Give a function that never raises: `otherwise` comes back when ours would have."""

        @functools.wraps(function)
        def shielded(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # as above
                self.report(where, error)
                return otherwise

        return shielded  # type: ignore[return-value]  # the same signature by construction
