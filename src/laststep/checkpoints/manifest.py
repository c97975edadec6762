"""How is a checkpoint sealed?"""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from laststep.checkpoints.contents import list_contents
from laststep.checkpoints.hash_file import hash_file
from laststep.checkpoints.sealed_files import MANIFEST_NAME, VERSION, FileSeal, Manifest, ManifestError, read_manifest
from laststep.checkpoints.verify import Hashes, Manner, look_at_checkpoint
from laststep.checkpoints.write_durably import write_durably
from laststep.records.checkpoint import CheckedCheckpoint, SaveFacts, Soundness

__all__ = ["MANIFEST_NAME", "Manifest", "ManifestError", "read_manifest", "seal_checkpoint"]


def seal_checkpoint(
    path: Path,
    facts: SaveFacts,
    *,
    files: Mapping[str, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CheckedCheckpoint:
    """Verify a checkpoint by its structure, hash its files and write its manifest; an unsound one gets none.

    `files`: names and sizes that the ranks reported to have written; one that is gone or differs is a problem.
    """
    checked = look_at_checkpoint(path, Manner(hashes=Hashes.IGNORED, reported=files or {}), progress=progress)
    if checked.soundness is not Soundness.SOUND:
        return checked
    contents = list_contents(path)
    names = [name for name in contents.files if name != MANIFEST_NAME]
    total, done = sum(contents.files[name] for name in names), 0

    def tick(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    seals = {name: FileSeal(size=contents.files[name], blake3=hash_file(path / name, tick)) for name in names}
    _write_manifest(path, _make_manifest(facts, checked, seals))
    return look_at_checkpoint(path, Manner(hashes=Hashes.TRUSTED))


def _make_manifest(facts: SaveFacts, checked: CheckedCheckpoint, seals: dict[str, FileSeal]) -> Manifest:
    return Manifest(
        version=VERSION,
        files=seals,
        run_id=facts.run_id,
        step=facts.step if facts.step is not None else checked.step,
        world_size=facts.world_size if facts.world_size is not None else checked.world_size,
        tuner=facts.tuner,
        base_model=facts.base_model,
        data_position=dict(facts.data_position) if facts.data_position is not None else None,
        random_states=dict(facts.random_states),
    )


def _write_manifest(path: Path, manifest: Manifest) -> None:
    """Write it durably, and give the folder its times back: transformers deletes the oldest by them."""
    values = msgspec.to_builtins(manifest)
    text = json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True)
    times = path.stat()
    try:
        write_durably(path / MANIFEST_NAME, text.encode())
    finally:
        with contextlib.suppress(OSError):  # somebody else's folder: only its owner may
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
