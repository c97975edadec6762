"""How many steps have all ranks made?"""

from collections.abc import Iterable

from laststep_guard import wire


def count_steps(beats: Iterable[wire.Beat]) -> tuple[int | None, int | None]:
    """Give the steps that every training rank has made and those to make; None where nobody knows."""
    training = [beat for beat in beats if wire.Flag.TRAINER_SEEN in beat.flags]
    if not training:
        return None, None
    return min(beat.step for beat in training), max(beat.target_step for beat in training) or None
