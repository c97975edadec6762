"""What is tried next, and when is it enough?

One change is known so far: to go on from the newest sound checkpoint. It ends, because a run that was taken up again
three times without making a step that it had not made before is given up.
"""

import signal
from collections.abc import Sequence

from laststep.records.outcome import Outcome
from laststep.records.remedy import NoRemedy, PastAttempt, Remedy
from laststep.records.resume import ResumePoint

MOST_WITHOUT_STEP = 3  # attempts of the training's own failing, one after the other
MOST_PREEMPTIONS = 20  # attempts ended from outside, one after the other, without a step
_MENDABLE = (Outcome.FAILED, Outcome.UNFINISHED, Outcome.LOST)
# How schedulers and administrators end what is not theirs: no fault of the training.
_FROM_OUTSIDE = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU)


def choose_remedy(attempts: Sequence[PastAttempt], point: ResumePoint | None) -> Remedy | NoRemedy:
    """Choose what to do after the last of these attempts (oldest first); `point` is where the run could go on."""
    last = attempts[-1]
    if last.judgement.outcome not in _MENDABLE:
        return NoRemedy.NOTHING_FAILED
    idle = _list_idle(attempts)
    preemptions = sum(_is_from_outside(attempt) for attempt in idle)
    if len(idle) - preemptions >= MOST_WITHOUT_STEP or preemptions >= MOST_PREEMPTIONS:
        return NoRemedy.WITHOUT_PROGRESS
    if point is None:
        return NoRemedy.NOTHING_TO_GO_ON_FROM  # nothing shows that it would get any further
    return Remedy(change="resume", remedy_class="identical", point=point)


def _list_idle(attempts: Sequence[PastAttempt]) -> list[PastAttempt]:
    """List the attempts at the end of the history that made no step which had not been made before."""
    best, idle = 0, list[PastAttempt]()
    for attempt in attempts:
        if (attempt.last_step or 0) > best:
            best, idle = attempt.last_step or 0, []
        else:
            idle.append(attempt)
    return idle


def _is_from_outside(attempt: PastAttempt) -> bool:
    return attempt.judgement.signal in _FROM_OUTSIDE
