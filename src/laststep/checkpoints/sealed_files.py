"""What was in a checkpoint when it was sealed?

The manifest is one file inside the checkpoint, with names relative to it, so that it travels with a copy.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from laststep_guard.wire import MANIFEST_NAME

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSeal:
    """A file as it was."""

    size: int
    blake3: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was in a checkpoint when it was sealed, and what the run knew."""

    version: int
    files: dict[str, FileSeal]
    run_id: str | None = None
    step: int | None = None
    world_size: int | None = None
    tuner: str | None = None
    base_model: str | None = None
    data_position: dict[str, Any] | None = None
    random_states: dict[str, Any] = field(default_factory=dict)


class ManifestError(ValueError):
    """There is a manifest, and it cannot be read."""


def read_manifest(path: Path) -> Manifest | None:
    """Read the manifest of a checkpoint; None where there is none, an error where it is damaged."""
    try:
        data = (path / MANIFEST_NAME).read_bytes()
    except FileNotFoundError:
        return None
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ManifestError(str(error)) from None
    if manifest.version != VERSION or any(_leads_out(name) for name in manifest.files):
        raise ManifestError(MANIFEST_NAME)
    return manifest


def find_manifest(path: Path) -> Manifest | None:
    """Read the manifest of a checkpoint for whoever does not judge it; None also where it cannot be read."""
    try:
        return read_manifest(path)
    except (ManifestError, OSError):
        return None


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]
