"""How do we reach a library only after the host itself has imported it?

A finder at the front of `sys.meta_path` that finds nothing itself: it wraps the loader of the modules that somebody
waits for, and calls the waiting functions once the module has been executed. Modules that are there already are served
at once.
"""

import _thread
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Sequence, Set

Waiting = Callable[[ModuleType], None]


class ImportWatch(importlib.abc.MetaPathFinder):
    """Calls functions after the import of the modules they wait for. The functions must not raise; shield them."""

    def __init__(self) -> None:
        self._waiting: Dict[str, List[Waiting]] = {}
        self._searching: Set[int] = set()  # threads that search right now

    def after(self, module_name: str, waiting: Waiting) -> None:
        """Call `waiting(module)` once `module_name` has been imported."""
        module = sys.modules.get(module_name)
        if module is not None and not _is_initializing(module):
            waiting(module)
            return
        self._waiting.setdefault(module_name, []).append(waiting)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """Find the spec that the others would find, with its loader wrapped; None for modules nobody waits for."""
        thread = _thread.get_ident()
        if fullname not in self._waiting or thread in self._searching:
            return None
        self._searching.add(thread)  # the search below may pass through us again
        try:
            spec = _find_among_others(self, fullname, path, target)
        finally:
            self._searching.discard(thread)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _ThenCall(spec.loader, self._waiting.pop(fullname))  # type: ignore[assignment]  # a loader by duck typing
        return spec

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _ThenCall:
    """A loader that executes the module and then calls the waiting functions. Everything else is the real loader's."""

    def __init__(self, loader: Any, waiting: List[Waiting]) -> None:
        self._loader = loader
        self._waiting_functions = waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        # Leave the module as if we had never been there: some libraries compare or pickle loaders.
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        for waiting in self._waiting_functions:
            waiting(module)


def _find_among_others(
    ours: object, fullname: str, path: Optional[Sequence[str]], target: Optional[ModuleType]
) -> Optional[importlib.machinery.ModuleSpec]:
    for finder in list(sys.meta_path):
        if finder is ours:
            continue
        find = getattr(finder, "find_spec", None)
        spec = find(fullname, path, target) if find is not None else None
        if spec is not None:
            return spec  # type: ignore[no-any-return]  # find_spec is untyped on arbitrary finders
    return None


def _is_initializing(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))
