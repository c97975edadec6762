"""Which of the causes in a log of several attempts were those of earlier ones?"""

from collections.abc import Sequence

from laststep.diagnosis.decide import Weighed


def set_aside_earlier(
    weighed: Sequence[Weighed], began_again_at: int | None
) -> tuple[Sequence[Weighed], Sequence[Weighed]]:
    """Split causes into those of the last attempt, and those that only earlier attempts have shown.

    Where the last attempt has no cause of its own, the earlier ones count: it may never have begun. So do they where
    what it shows is only a symptom of theirs.
    """
    proven = [one for one in weighed if one.has_proof and one.says_something and not one.failure.separate]
    earlier = [one for one in proven if began_again_at is not None and one.last < began_again_at]
    now = [one for one in proven if one not in earlier]
    dragged_along = {cause for one in earlier for cause in one.failure.explains}
    if not any(one.failure.id not in dragged_along for one in now):
        return weighed, ()
    return [one for one in weighed if one not in earlier], earlier
