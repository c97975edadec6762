"""Where do the random numbers of a loader worker come from, and how are those sources set back?

Besides the generators of Python, NumPy and torch, a data set or a collator may own some: ms-swift's template makes a
`RandomState` of its own when it collates its first batch. They are found by walking, within bounds, over the
attributes of the data set and the collator. A generator is named by its path, which means the same in every process
that holds a copy.
"""

import functools
import pickle
import random
import sys
import types
from collections import deque
from typing import Any, Deque, Dict, Iterator, Optional, Set, Tuple

_MOST_OBJECTS = 4000
_DEEPEST = 8
_LONGEST_CONTAINER = 200  # longer ones hold rows, not generators
_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None), type, types.ModuleType)

# Counters that decide like random numbers which row comes next, by class: ms-swift's lazy data set replaces a row that
# can't be encoded by the next of a fixed permutation, and every worker has a position of its own in it.
_COUNTERS: Dict[str, Tuple[str, ...]] = {"LazyLLMDataset": ("_idx",)}

_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")  # a name from a file makes no other object

Path = Tuple[str, ...]


class RandomStates:
    """All random sources that code run by this process for `roots` draws from."""

    def __init__(self, roots: Dict[str, Any]) -> None:
        self._roots = roots
        self._owners: Dict[Path, Any] = {}  # instance dictionaries that were walked over
        self._sizes: Dict[Path, int] = {}
        self._own: Dict[Path, Any] = {}  # path -> generator
        self._counting: Dict[Path, Any] = {}  # path -> object with counters
        self._find()
        self._pristine = self._read_own()

    def capture(self) -> bytes:
        """Read all states."""
        self._find_new()
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        return pickle.dumps(
            {
                "python": random.getstate(),
                "numpy": numpy.random.get_state() if numpy else None,
                "torch": torch.get_rng_state().numpy().tobytes() if torch else None,
                "own": self._read_own(),
            },
            protocol=pickle.HIGHEST_PROTOCOL,
        )

    def restore(self, captured: bytes) -> None:
        """Set all states. `captured` comes from `capture` in this run, over a pipe of our own."""
        states = pickle.loads(captured)  # noqa: S301  # written by ourselves a moment ago
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        random.setstate(states["python"])
        if numpy and states["numpy"] is not None:
            numpy.random.set_state(states["numpy"])
        if torch and states["torch"] is not None:
            torch.set_rng_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))
        self._write_own(states["own"])

    def restore_own(self, captured: bytes) -> None:
        """Set the owned generators alone."""
        self._find_new()
        self._write_own(pickle.loads(captured)["own"])  # noqa: S301  # as above

    def restore_pristine(self) -> None:
        """Set the owned generators to what they were at the start; the shared ones are seeded by the caller."""
        self._find_new()
        self._write_own(self._pristine)

    def _read_own(self) -> Dict[Path, Any]:
        states = {path: _read(generator) for path, generator in self._own.items()}
        for path, counting in self._counting.items():
            states[path] = ("counters", {name: vars(counting).get(name) for name in _COUNTERS[type(counting).__name__]})
        return states

    def _write_own(self, states: Dict[Path, Any]) -> None:
        for path in [path for path in self._own if path not in states]:
            # It did not exist yet at that moment: whoever made it makes it again.
            self._owners[path[:-1]].pop(path[-1], None)
            del self._own[path]
        for path, (kind, state) in states.items():
            if kind == "counters":
                self._write_counters(path, state)
                continue
            generator = self._own.get(path)
            if generator is None:
                generator = self._make(path, kind)
            if generator is not None:
                _write(generator, state)
        self._sizes = {path: len(owner) for path, owner in self._owners.items()}

    def _write_counters(self, path: Path, state: Any) -> None:
        counting = self._counting.get(path)
        if counting is not None:
            names = _COUNTERS[type(counting).__name__]
            vars(counting).update({name: state[name] for name in names if name in state})

    def _make(self, path: Path, kind: str) -> Any:
        owner = self._owners.get(path[:-1])
        if owner is None:
            return None
        generator = _new(kind)
        owner[path[-1]] = self._own[path] = generator
        return generator

    def _find_new(self) -> None:
        # A generator that appears later appears as a new attribute of an object that was walked over.
        if any(len(owner) != self._sizes[path] for path, owner in self._owners.items()):
            self._find()

    def _find(self) -> None:
        self._owners.clear()
        self._own.clear()
        self._counting.clear()
        waiting: Deque[Tuple[Path, Any]] = deque(((name,), root) for name, root in self._roots.items())
        seen: Set[int] = set()
        while waiting and len(seen) < _MOST_OBJECTS:
            path, value = waiting.popleft()
            if id(value) in seen or len(path) > _DEEPEST or isinstance(value, _PLAIN):
                continue
            seen.add(id(value))
            if _kind(value) is not None:
                self._own[path] = value
                continue
            if type(value).__name__ in _COUNTERS:
                self._counting[path] = value
            owner = getattr(value, "__dict__", None)
            if (
                isinstance(owner, dict)
                and not isinstance(value, (types.FunctionType, functools.partial))
                and not _is_heavy(value)
            ):
                self._owners[path] = owner
            waiting.extend(((*path, name), inner) for name, inner in _inside(value))
        self._sizes = {path: len(owner) for path, owner in self._owners.items()}


def _inside(value: Any) -> Iterator[Tuple[str, Any]]:
    """Yield what an object holds, with names that are the same in every copy."""
    if isinstance(value, types.MethodType):
        yield "()", value.__self__
    elif isinstance(value, functools.partial):
        yield "func", value.func
        yield "args", value.args
        yield "keywords", value.keywords
    elif isinstance(value, types.FunctionType):
        yield from (
            (f"cell{number}", cell.cell_contents)
            for number, cell in enumerate(value.__closure__ or ())
            if _is_full(cell)
        )
    elif isinstance(value, (list, tuple)) and len(value) <= _LONGEST_CONTAINER:
        yield from ((str(number), inner) for number, inner in enumerate(value))
    elif isinstance(value, dict):
        if len(value) <= _LONGEST_CONTAINER:
            yield from ((key, inner) for key, inner in list(value.items()) if isinstance(key, str))
    elif not _is_heavy(value) and isinstance(getattr(value, "__dict__", None), dict):
        yield from list(vars(value).items())


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # an empty cell raises
    except ValueError:
        return False
    return True


def _is_heavy(value: Any) -> bool:
    """Tell models and tensors, which hold no generators that a worker draws from, and very many attributes."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, (torch.nn.Module, torch.Tensor))


def _kind(value: Any) -> Optional[str]:
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return "random.Random"
    if numpy is not None and isinstance(value, numpy.random.RandomState):
        return "numpy.RandomState"
    if numpy is not None and isinstance(value, numpy.random.Generator):
        return f"numpy.Generator.{type(value.bit_generator).__name__}"
    if torch is not None and isinstance(value, torch.Generator) and value.device.type == "cpu":
        return "torch.Generator"
    return None


def _read(generator: Any) -> Tuple[str, Any]:
    kind = _kind(generator) or ""
    if kind == "random.Random":
        return kind, generator.getstate()
    if kind == "numpy.RandomState":
        return kind, generator.get_state()
    if kind == "torch.Generator":
        return kind, generator.get_state().numpy().tobytes()
    return kind, generator.bit_generator.state


def _write(generator: Any, state: Any) -> None:
    kind = _kind(generator) or ""
    if kind == "random.Random":
        generator.setstate(state)
    elif kind == "numpy.RandomState":
        generator.set_state(state)
    elif kind == "torch.Generator":
        torch = sys.modules["torch"]
        generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
    else:
        generator.bit_generator.state = state


def _new(kind: str) -> Any:
    if kind == "random.Random":
        return random.Random()  # noqa: S311  # a stand-in whose state is set next
    numpy = sys.modules.get("numpy")
    if kind == "torch.Generator":
        return sys.modules["torch"].Generator()
    if kind == "numpy.RandomState" and numpy is not None:
        return numpy.random.RandomState()
    name = kind.rsplit(".", 1)[-1]
    if numpy is not None and name in _BIT_GENERATORS:
        return numpy.random.Generator(getattr(numpy.random, name)())
    return None
