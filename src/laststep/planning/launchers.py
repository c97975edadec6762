"""Which launcher starts the ranks, and what does it call their number and their port?

torchrun (`torch/distributed/run.py`), accelerate (`accelerate/commands/launch.py`), DeepSpeed
(`deepspeed/launcher/runner.py`). Their options stand before the script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from laststep.records.settings import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """A program that starts ranks. `words`: those that begin its command."""

    words: tuple[str, ...]
    names: Mapping[Setting, str]


_TORCHRUN = {Setting.RANKS: "nproc_per_node", Setting.PORT: "master_port"}
LAUNCHERS: tuple[Launcher, ...] = (
    Launcher(words=("torchrun",), names=_TORCHRUN),
    Launcher(words=("-m", "torch.distributed.run"), names=_TORCHRUN),
    Launcher(words=("-m", "torch.distributed.launch"), names=_TORCHRUN),
    Launcher(words=("accelerate", "launch"), names={Setting.RANKS: "num_processes", Setting.PORT: "main_process_port"}),
    Launcher(words=("deepspeed",), names={Setting.RANKS: "num_gpus", Setting.PORT: "master_port"}),
)
_FIRST_WORDS = 6  # an interpreter, its options, and what it is to run


def find_launcher(argv: Sequence[str]) -> tuple[Launcher, int] | None:
    """Find the launcher of a command, and where its options begin."""
    names = [PurePath(word).name for word in argv[:_FIRST_WORDS]]
    for launcher in LAUNCHERS:
        length = len(launcher.words)
        for place in range(len(names) - length + 1):
            if tuple(names[place : place + length]) == launcher.words:
                return launcher, place + length
    return None
