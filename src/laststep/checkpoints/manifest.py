"""How is a checkpoint sealed?"""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from laststep.checkpoints.contents import list_contents
from laststep.checkpoints.hash_file import hash_file
from laststep.checkpoints.sealed_files import VERSION, FileSeal, Manifest, ManifestError, read_manifest
from laststep.checkpoints.verify import Hashes, Manner, look_at_checkpoint
from laststep.checkpoints.write_durably import write_durably
from laststep.records.checkpoint import CheckedCheckpoint, SaveFacts, Soundness
from laststep.records.errors import CheckpointError
from laststep.records.text import Text
from laststep_guard.wire import MANIFEST_NAME

_NOT_SEALED = Text(
    en="{path} could not be sealed: {reason}. The checkpoint itself is as it was.",
    zh="无法封存 {path}：{reason}。检查点本身没有改动。",
)
__all__ = ["Manifest", "ManifestError", "read_manifest", "seal_checkpoint"]


def seal_checkpoint(
    path: Path,
    facts: SaveFacts,
    *,
    files: Mapping[str, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CheckedCheckpoint:
    """Verify a checkpoint by its structure, hash its files and write its manifest; an unsound one gets none.

    `files`: names and sizes that the ranks reported to have written; one that is gone or differs is a problem. Without
    them, a checkpoint whose manifest disagrees keeps it: sealing again would hide what changed.
    """
    hashes = Hashes.COMPARED if files is None else Hashes.IGNORED
    checked = look_at_checkpoint(path, Manner(hashes=hashes, reported=files or {}), progress=progress)
    if checked.soundness is not Soundness.SOUND or checked.is_sealed:
        return checked
    try:
        _write_manifest(path, _make_manifest(facts, checked, _hash_files(path, progress)))
    except OSError as error:
        raise CheckpointError(_NOT_SEALED.fill(path=path, reason=error.strerror or error)) from error
    return look_at_checkpoint(path, Manner(hashes=Hashes.TRUSTED))


def _hash_files(path: Path, progress: Callable[[int, int], None] | None) -> dict[str, FileSeal]:
    sizes = {name: size for name, size in list_contents(path).files.items() if name != MANIFEST_NAME}
    total, done = sum(sizes.values()), 0

    def tick(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    return {name: FileSeal(size=size, blake3=hash_file(path / name, tick)) for name, size in sizes.items()}


def _make_manifest(facts: SaveFacts, checked: CheckedCheckpoint, seals: dict[str, FileSeal]) -> Manifest:
    return Manifest(
        version=VERSION,
        files=seals,
        run_id=facts.run_id,
        step=facts.step if facts.step is not None else checked.step,
        world_size=facts.world_size if facts.world_size is not None else checked.world_size,
        tuner=facts.tuner or checked.tuner,
        base_model=facts.base_model or checked.base_model,
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
