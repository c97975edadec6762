"""Which file formats are known?"""

from collections.abc import Callable
from dataclasses import dataclass

from laststep.checkpoints.contents import Reading
from laststep.checkpoints.formats import json_file, safetensors, torch_file
from laststep.checkpoints.formats.look import Look


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How files of one format are told by their name, and read."""

    recognises: Callable[[str], bool]
    read: Callable[[Look], Reading]


FORMATS = (
    FileFormat(safetensors.recognises, safetensors.read),
    FileFormat(torch_file.recognises, torch_file.read),
    FileFormat(json_file.recognises, json_file.read),
)
