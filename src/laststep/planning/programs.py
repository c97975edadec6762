"""Which programs does a command start one inside the other, and where do the arguments of each begin?

`torchrun --nproc_per_node 2 …/swift/cli/sft.py --model m` is torchrun with its options, then ms-swift with its own.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from laststep.planning.launchers import find_launcher

_CONFIG = (".yaml", ".yml", ".json")
_MODULE = re.compile(r"\b(swift(?=[./]cli)|trl(?=[./]scripts))[./](?:cli|scripts)[./](\w+?)(?:\.py)?$")
_FRONTS = {"swift": "swift", "trl": "trl", "llamafactory-cli": "llamafactory", "lmf": "llamafactory"}
_LAUNCHERS = {"torchrun": "torchrun", "torch.distributed.run": "torchrun", "launch": "accelerate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of a command. `entry` names its arguments, as `host/questions/accepted_arguments.py` knows them."""

    entry: str
    begin: int  # index of the first word of its arguments
    config: str | None = None  # a file that holds arguments, too
    ends_at_script: bool = False  # what follows its first plain word belongs to that


def find_programs(argv: Sequence[str]) -> tuple[Program, ...]:
    """Find the programs whose arguments can be asked for."""
    return (*_find_launched(argv), *_find_trainer(argv))


def _find_launched(argv: Sequence[str]) -> Iterator[Program]:
    launcher = find_launcher(argv)
    if launcher is not None and launcher[0].words[-1] in _LAUNCHERS:
        yield Program(entry=_LAUNCHERS[launcher[0].words[-1]], begin=launcher[1], ends_at_script=True)


def _find_trainer(argv: Sequence[str]) -> Iterator[Program]:
    is_front = True
    for place, word in enumerate(argv):
        following = argv[place + 1] if place + 1 < len(argv) else ""
        module = _MODULE.search(word)
        if module is not None:
            yield _with_config(argv, f"{module[1]}:{module[2].replace('_', '-')}", place + 1)
            return
        kind = _FRONTS.get(PurePath(word).name)
        if word.startswith("--"):
            is_front = False  # from here on a name is a value
        if kind is not None and is_front and following:
            yield _with_config(argv, f"{kind}:{following.replace('_', '-')}", place + 2)
            return


def _with_config(argv: Sequence[str], entry: str, begin: int) -> Program:
    if begin < len(argv) and argv[begin].endswith(_CONFIG) and not argv[begin].startswith("-"):
        return Program(entry=entry, begin=begin + 1, config=argv[begin])
    return Program(entry=entry, begin=begin)
