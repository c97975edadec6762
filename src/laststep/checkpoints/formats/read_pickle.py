"""What would a pickle do, were it loaded?

A pickle is a program for a stack machine (CPython's Lib/pickletools.py describes every opcode). Here it runs with the
names in it as mere names: containers and plain values are built, nothing is imported, nothing is called.
"""

import pickletools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

from laststep.checkpoints.formats.pickle_values import Built, Global, Persistent
from laststep.checkpoints.formats.trusted_names import (
    is_own_class,
    is_trusted,
    is_trusted_class,
    may_be_called,
    name_global,
)

MOST_OPCODES = 20_000_000  # a checkpoint of the largest models has some hundred thousand
LOADER = Global("torch.storage", "_load_from_bytes")  # loads the pickle that it is given
_CODECS = frozenset(("latin1", "latin-1", "iso-8859-1", "ascii", "utf-8", "utf8"))
_PUSHED = frozenset(
    """
    INT BININT BININT1 BININT2 LONG LONG1 LONG4 STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8
    BYTEARRAY8 UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8 FLOAT BINFLOAT
    """.split()
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED = frozenset(("PROTO", "FRAME", "STOP"))


class PickleError(ValueError):
    """No unpickler could read it."""


@dataclass(frozen=True, slots=True)
class ReadPickle:
    """What a pickle holds, and the names that it would call although no checkpoint needs them."""

    value: Any
    dangers: tuple[str, ...]


def read_pickle(file: BinaryIO, *, allows_own_classes: bool = False) -> ReadPickle:
    """Read one pickle as data; the file is left behind its end."""
    machine = _Machine(allows_own_classes=allows_own_classes)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, which damaged ones have
            for count, (opcode, argument, _) in enumerate(pickletools.genops(file)):
                if count > MOST_OPCODES:
                    raise PickleError
                machine.run(opcode.name, argument)
        return ReadPickle(machine.pop(), tuple(dict.fromkeys(machine.dangers)))
    # What damaged opcodes lead to: an empty stack, an unknown place in the memo, a list as a key, a wrong encoding.
    except (ValueError, IndexError, KeyError, TypeError, OverflowError, AttributeError, MemoryError) as error:
        if machine.dangers:
            return ReadPickle(None, tuple(dict.fromkeys(machine.dangers)))
        raise PickleError(str(error)) from None


class _Machine:
    """The stack, the memo and the marks of the pickle machine."""

    def __init__(self, *, allows_own_classes: bool) -> None:
        self.dangers: list[str] = []
        self._allows_own = allows_own_classes
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self, name: str, argument: Any) -> None:
        if name in _PUSHED:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name not in _IGNORED:
            _OPCODES[name](self, argument)

    def pop(self) -> Any:
        if self._marks and len(self._stack) <= self._marks[-1]:
            raise PickleError("an opcode reaches below its mark")
        return self._stack.pop()

    def mark(self, _: Any) -> None:
        self._marks.append(len(self._stack))

    def pop_mark(self) -> list[Any]:
        at = self._marks.pop()
        items = self._stack[at:]
        del self._stack[at:]
        return items

    def drop_mark(self, _: Any) -> None:
        self.pop_mark()

    def make_dict(self, _: Any) -> None:
        items = self.pop_mark()
        self.push({})
        self.set_items(items)

    def pop_one(self, _: Any) -> None:
        if self._marks and len(self._stack) == self._marks[-1]:
            self._marks.pop()  # as the real one does
        else:
            self._stack.pop()

    def contain(self, items: Iterable[Any]) -> list[Any]:
        """Take values into a container, from where somebody else might call them."""
        taken = list(items)
        self.dangers += [str(item) for item in taken if isinstance(item, Global) and item == LOADER]
        return taken

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def get(self, index: int) -> None:
        self._stack.append(self._memo[int(index)])

    def put(self, index: Any) -> None:
        self._memo[len(self._memo) if index is None else int(index)] = self._stack[-1]

    def duplicate(self, _: Any) -> None:
        self._stack.append(self._stack[-1])

    def make_tuple(self, count: int) -> None:
        self.push(tuple(self.contain(reversed([self.pop() for _ in range(count)]))))

    def name(self, module: str, name: str) -> Global:
        """Take a name in; one that no checkpoint needs is a danger, called or not."""
        named = name_global(module, name)
        if not is_trusted(named) and not (self._allows_own and is_own_class(named)):
            self.dangers.append(str(named))
        return named

    def global_(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self.push(self.name(module, name))

    def stack_global(self, _: Any) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            self.dangers.append("a name that is no text")
            name, module = "?", "?"
        self.push(self.name(module, name))

    def call(self, function: Any, arguments: Any) -> None:
        """Take note of a call."""
        self.push(_imagine_call(function, arguments, self.dangers))

    def reduce(self, _: Any) -> None:
        arguments, function = self.pop(), self.pop()
        self.call(function, arguments)

    def new_object(self, _: Any) -> None:
        arguments, kind = self.pop(), self.pop()
        self.push(self._build_object(kind, arguments))

    def new_object_with_names(self, _: Any) -> None:
        named, arguments, kind = self.pop(), self.pop(), self.pop()
        del named
        self.push(self._build_object(kind, arguments))

    def _build_object(self, kind: Any, arguments: Any) -> Built:
        is_own = isinstance(kind, Global) and self._allows_own and is_own_class(kind) and not arguments
        if not isinstance(kind, Global) or not (is_own or is_trusted_class(kind)):
            self.dangers.append(str(kind) if isinstance(kind, Global) else "something that is no class")
            kind = Global("?", "?")
        return Built(kind, arguments if isinstance(arguments, tuple) else ())

    def instantiate(self, argument: str) -> None:  # INST
        module, _, name = argument.partition(" ")
        self.call(self.name(module, name), tuple(self.contain(self.pop_mark())))

    def make_object(self, _: Any) -> None:  # OBJ
        kind, *arguments = self.pop_mark()
        self.call(kind, tuple(self.contain(arguments)))

    def build(self, _: Any) -> None:
        state, target = self.pop(), self._stack[-1]
        if isinstance(target, Built):
            target.state = state
        else:
            # It would set attributes of a class or module, for everybody.
            self.dangers.append(f"a change of {target}" if isinstance(target, Global) else "a change of no object")

    def append(self, items: list[Any]) -> None:
        target, taken = self._stack[-1], self.contain(items)
        if isinstance(target, list):
            target.extend(taken)
        else:
            self._container(target).entries.extend(taken)

    def add(self, _: Any) -> None:  # ADDITEMS
        items, target = self.contain(self.pop_mark()), self._stack[-1]
        if isinstance(target, set):
            target.update(items)
        else:
            self._container(target).entries.extend(items)

    def set_items(self, items: list[Any]) -> None:
        target, taken = self._stack[-1], self.contain(items)
        pairs = zip(taken[::2], taken[1::2], strict=True)
        if isinstance(target, dict):
            target.update(pairs)
        else:
            self._container(target).items.update(pairs)

    def _container(self, target: Any) -> Built:
        if not isinstance(target, Built):
            raise PickleError("it fills what is no container")
        return target

    def persistent(self, _: Any) -> None:
        self.push(Persistent(self.pop()))

    def refuse(self, _: Any) -> None:
        self.dangers.append("an extension or a buffer from elsewhere")
        self.push(None)


def _imagine_call(function: Any, arguments: Any, dangers: list[str]) -> Any:
    """Give what a call would return, as far as that is known without it."""
    if not isinstance(function, Global):
        dangers.append("the result of another call")
        return None
    handed = [item for item in arguments if isinstance(item, Global)]
    if not may_be_called(function, arguments) or not all(map(is_trusted, handed)):
        dangers.append(str(function))
    if str(function) == "_codecs.encode":
        text, codec = (*arguments, "utf-8")[:2]
        if codec in _CODECS:
            return text.encode(codec)
        dangers.append(f"the codec {codec!r}")
    return Built(function, arguments)


_OPCODES: dict[str, Callable[[_Machine, Any], None]] = {
    "MARK": _Machine.mark,
    "POP": _Machine.pop_one,
    "POP_MARK": _Machine.drop_mark,
    "DUP": _Machine.duplicate,
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_SET": lambda machine, _: machine.push(set()),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.contain(machine.pop_mark()))),
    "TUPLE1": lambda machine, _: machine.make_tuple(1),
    "TUPLE2": lambda machine, _: machine.make_tuple(2),
    "TUPLE3": lambda machine, _: machine.make_tuple(3),
    "LIST": lambda machine, _: machine.push(machine.contain(machine.pop_mark())),
    "FROZENSET": lambda machine, _: machine.push(frozenset(machine.contain(machine.pop_mark()))),
    "DICT": _Machine.make_dict,
    "APPEND": lambda machine, _: machine.append([machine.pop()]),
    "APPENDS": lambda machine, _: machine.append(machine.pop_mark()),
    "ADDITEMS": _Machine.add,
    "SETITEM": lambda machine, _: machine.set_items([machine.pop(), machine.pop()][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.pop_mark()),
    "GET": _Machine.get,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
    "PUT": _Machine.put,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    "GLOBAL": _Machine.global_,
    "STACK_GLOBAL": _Machine.stack_global,
    "REDUCE": _Machine.reduce,
    "BUILD": _Machine.build,
    "INST": _Machine.instantiate,
    "OBJ": _Machine.make_object,
    "NEWOBJ": _Machine.new_object,
    "NEWOBJ_EX": _Machine.new_object_with_names,
    "PERSID": lambda machine, argument: machine.push(Persistent(argument)),
    "BINPERSID": _Machine.persistent,
    "EXT1": _Machine.refuse,
    "EXT2": _Machine.refuse,
    "EXT4": _Machine.refuse,
    "NEXT_BUFFER": _Machine.refuse,
    "READONLY_BUFFER": lambda _, __: None,
}
