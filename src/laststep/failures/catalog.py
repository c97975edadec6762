"""Which causes are known?"""

import functools
from collections.abc import Mapping
from importlib import resources

import msgspec

from laststep.failures.failure import Failure

UNKNOWN = "unknown.cause-not-in-log"
NO_FAULT = "not-a-failure.no-fault-shown"


@functools.cache
def load_failures() -> Mapping[str, Failure]:
    """Read every cause, by id. Raises msgspec.ValidationError where a file is not as it has to be."""
    failures = {}
    for family in sorted(resources.files(__package__).iterdir(), key=lambda entry: entry.name):
        if family.is_dir() and family.name != "__pycache__":
            for file in sorted(family.iterdir(), key=lambda entry: entry.name):
                name, _, kind = file.name.rpartition(".")
                if kind == "toml":
                    failures[f"{family.name}.{name}"] = read_failure(f"{family.name}.{name}", file.read_bytes())
    return failures


def read_failure(identity: str, data: bytes) -> Failure:
    """Read the file of one cause."""
    return msgspec.structs.replace(msgspec.toml.decode(data, type=Failure), id=identity)
