"""How far is every rank?"""

from pathlib import Path

from laststep_guard import wire


def read_beats(folder: Path) -> tuple[wire.Beat, ...]:
    """Read the beats of all ranks, by rank. A beat that is torn or garbled is left out."""
    try:
        paths = list(folder.iterdir())
    except OSError:
        return ()
    beats = [beat for path in paths if (beat := _read(path)) is not None]
    return tuple(sorted(beats, key=lambda beat: beat.rank))


def _read(path: Path) -> wire.Beat | None:
    try:
        with path.open("rb") as file:
            return wire.read_beat(file.read(wire.BEAT_BYTES))
    except (OSError, ValueError):  # ValueError: a phase that this version does not know
        return None
