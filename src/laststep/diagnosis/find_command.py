"""Which command was it, where a log or a pasted question tells of it itself?"""

import re
from dataclasses import dataclass, field

from laststep.diagnosis.read_log import Chunk, clean
from laststep.records.verdict import Evidence

# One of these is in a line that is looked at.
LAUNCHERS = (
    "swift sft ", "swift pt ", "swift rlhf ", "torchrun ", "accelerate launch ", "llamafactory-cli ", "deepspeed --",
    "trl sft ", "trl dpo ", "axolotl train ", "python train", "run sh: `",
)  # fmt: skip
_LAUNCHED = re.compile(r"run sh: `([^`]+)`")  # as ms-swift tells what it starts; every log of it does, so no signal
_MOST = 3
_LONGEST_BYTES = 8192


@dataclass(slots=True)
class CommandFinder:
    """Looks at the lines of a log that name a launcher."""

    commands: list[Evidence] = field(default_factory=list)  # as somebody typed them
    launched: str = ""  # as a launcher says it starts them

    def look(self, chunk: Chunk, begin: int, number: int) -> None:
        """Look at the line that begins there, the `number`th of the log."""
        block, number = _take_lines(chunk, begin, number)
        match = _LAUNCHED.search(block)
        if match is not None:
            self.launched = self.launched or match.group(1)
        elif len(self.commands) < _MOST and not any(block in told.text for told in self.commands):
            self.commands.append(Evidence(chunk.source, number, block))


def _take_lines(chunk: Chunk, begin: int, number: int) -> tuple[str, int]:
    """Take the lines that a command is written in, those that end in a backslash with the one behind them."""
    data, first = chunk.data, begin
    while first and begin - first < _LONGEST_BYTES:
        above = data[max(0, first - _LONGEST_BYTES) : first].rstrip(b"\r\n")
        if not above.endswith(b"\\"):
            break
        first = data.rfind(b"\n", 0, first - 1) + 1
    end = data.find(b"\n", begin)
    while 0 <= end < begin + _LONGEST_BYTES and data[first:end].rstrip().endswith(b"\\"):
        end = data.find(b"\n", end + 1)
    text = clean(data[first : end if end >= 0 else len(data)]).strip()
    return text, number - data.count(b"\n", first, begin)
