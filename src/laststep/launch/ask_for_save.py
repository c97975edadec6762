"""How are all ranks brought to save at one step?

The holder proposes the step after the one that the furthest rank has ended, and decides once every rank has answered
that it is in time. A rank that was too fast answers so; then a later step is proposed. Nobody waits for a rank that
cannot come: see `laststep_guard/guards/agreement.py` for the ranks' part.
"""

import contextlib
import enum
import os
from collections.abc import Callable, Sequence

from laststep.host.clock import Clock
from laststep.host.processes import is_alive
from laststep.launch.records_on_disk import write_json
from laststep.launch.stop import read_beats, read_every_beat
from laststep_guard import wire

_FURTHEST_AHEAD = 64  # steps
_TORN_SECONDS = 0.5  # a beat that is being written is whole much sooner
_WORDLESS_SECONDS = 0.1  # between a rank's end of a step and its answer lie microseconds


class Progress(enum.Enum):
    """How far a request has come."""

    ASKING = 1  # the ranks have not all answered
    DECIDED = 2  # they save at the step that was proposed
    SAVED = 3  # all of them have left that save
    FAILED = 4  # as SAVED, and on one of them it failed
    GIVEN_UP = 5  # a rank is gone, or the training has ended


class SaveRequest:
    """One request, from the proposal to the save."""

    def __init__(self, requests_dir: str, beats_dir: str, clock: Clock, *, stop: bool, number: int) -> None:
        self._requests_dir = requests_dir
        self._beats_dir = beats_dir
        self._clock = clock
        self._late_since: float | None = None
        self._stop = stop
        self._ahead = 1
        self.number = number
        self.step = 0
        self.progress = Progress.ASKING

    def begin(self) -> bool:
        """Propose; False when the ranks cannot be asked: none trains, they are elsewhere too, or do not listen."""
        beats = self._wait_for_world()
        if not beats or (self._stop and any(wire.Flag.STOPS_BY_ITSELF in beat.flags for beat in beats)):
            return False
        return self._propose(beats)

    def look(self) -> Progress:
        """Look at the answers and go on."""
        beats = read_every_beat(self._beats_dir)
        if beats is None:
            return self.progress  # a rank writes its beat at this moment
        if self.progress is Progress.ASKING:
            self._look_at_answers(_choose_world(beats))
        elif self.progress is Progress.DECIDED:
            self._look_at_saves(beats)
        return self.progress

    def cancel(self) -> None:
        """Decide against it, if nothing was decided yet."""
        if self.progress is Progress.ASKING:
            self._decide(wanted=False)
            self.progress = Progress.GIVEN_UP

    def _look_at_answers(self, beats: Sequence[wire.Beat]) -> None:
        answers = {beat.answer for beat in beats}
        if not beats:
            self.cancel()
        elif self._is_late(beats) or wire.read_decision(self._requests_dir, self.number) is False:
            self._decide(wanted=False)
            self.number += 1
            self._ahead = min(2 * self._ahead, _FURTHEST_AHEAD)
            if not self._propose(beats):
                self.progress = Progress.GIVEN_UP
        elif answers == {self.number}:
            self.progress = Progress.DECIDED if self._decide(wanted=True) else Progress.GIVEN_UP

    def _decide(self, *, wanted: bool) -> bool:
        """Decide, unless that is done; a decision that cannot be written (a full disk) is none, for the ranks too."""
        try:
            return wire.decide(self._requests_dir, self.number, wanted=wanted)
        except OSError:
            return False

    def _is_late(self, beats: Sequence[wire.Beat]) -> bool:
        """Tell whether a rank has gone past the step: it says so, or has ended the step without a word for a while.

        The others may be waiting at that step, for which the rank in turn waits in the next one.
        """
        if any(beat.answer == -self.number for beat in beats):
            return True
        now = self._clock.monotonic()
        if all(beat.answer == self.number or beat.step < self.step for beat in beats):
            self._late_since = None
        elif self._late_since is None:
            self._late_since = now
        return self._late_since is not None and now - self._late_since > _WORDLESS_SECONDS

    def _look_at_saves(self, beats: Sequence[wire.Beat]) -> None:
        # The beat outlives its rank, so a rank that has saved and left has saved all the same.
        if all(abs(beat.last_save) >= self.step for beat in beats):
            failed = any(beat.last_save == -self.step for beat in beats)
            self.progress = Progress.FAILED if failed else Progress.SAVED
        elif not all(is_alive(beat.pid) for beat in beats if abs(beat.last_save) < self.step):
            self.progress = Progress.GIVEN_UP

    def _propose(self, beats: Sequence[wire.Beat]) -> bool:
        furthest, target = max(beat.step for beat in beats), max(beat.target_step for beat in beats)
        if target and furthest >= target:
            return False  # it is at its end
        self._late_since = None
        self.step = min(furthest + self._ahead, target or furthest + self._ahead)
        path = os.path.join(self._requests_dir, wire.PROPOSAL_NAME)
        return write_json(path, {"number": self.number, "step": self.step, "stop": self._stop})

    def _wait_for_world(self) -> Sequence[wire.Beat]:
        until = self._clock.monotonic() + _TORN_SECONDS
        while (beats := read_every_beat(self._beats_dir)) is None and self._clock.monotonic() < until:
            self._clock.sleep(_TORN_SECONDS / 100)
        return _choose_world(beats or ())


def _choose_world(beats: Sequence[wire.Beat]) -> Sequence[wire.Beat]:
    """Give the beats of all ranks; none where not every rank of the world is alive here and listens."""
    listen = all(wire.Flag.TAKES_REQUESTS in beat.flags and is_alive(beat.pid) for beat in beats)
    return beats if beats and listen and len(beats) >= beats[0].world_size else ()


class SaveRequests:
    """The requests of a run, one at a time, and what is told of them."""

    def __init__(
        self, requests_dir: str | None, beats_dir: str | None, *, clock: Clock, tell: Callable[..., None]
    ) -> None:
        self._requests_dir = requests_dir
        self._beats_dir = beats_dir
        self._clock = clock
        self._tell = tell
        self._number = 0
        self._current: SaveRequest | None = None
        self._wishes_at = 0

    @property
    def is_under_way(self) -> bool:
        return self._current is not None

    def ask(self, *, stop: bool) -> bool:
        """Ask all ranks to save; False, and told, when they cannot be asked."""
        if self._current is not None:
            if not stop and self._current.progress is not Progress.DECIDED:
                return True  # one save serves all who ask
            self.give_up()
        self._write_refusal(is_there=False)
        if self._requests_dir is not None and self._beats_dir is not None:
            request = SaveRequest(self._requests_dir, self._beats_dir, self._clock, stop=stop, number=self._number + 1)
            if request.begin():
                self._current, self._number = request, request.number
                self._tell(about="saving", step=request.step)
                return True
        if not stop or read_beats(self._beats_dir):  # of a command that trains nothing, nobody expects it
            self._tell(about="cannot_save")
        return False

    def look(self) -> Progress | None:
        """See what has become of the request; None when there is none."""
        request = self._current
        if request is None:
            return None
        before, progress = request.progress, request.look()
        self._number = request.number
        if progress is not before and progress in _TOLD:
            self._tell(about=_TOLD[progress], step=request.step)
            self._current = None
        return progress

    def give_up(self) -> None:
        """Drop the request of this moment."""
        if self._current is not None:
            self._current.cancel()
            self._current = None

    def refuse(self) -> None:
        """Let ranks take the next SIGTERM as ever."""
        self.give_up()
        self._write_refusal(is_there=True)

    def _write_refusal(self, *, is_there: bool) -> None:
        if self._requests_dir is None:
            return
        path = os.path.join(self._requests_dir, wire.REFUSED_NAME)
        with contextlib.suppress(OSError):
            if is_there:
                write_json(path, {})
            else:
                os.unlink(path)

    def take_wish(self) -> str | None:
        """Take what a rank asks for that got a signal itself: `stop` or `save`."""
        if self._requests_dir is None:
            return None
        with contextlib.suppress(OSError):
            changed_at = os.stat(self._requests_dir).st_mtime_ns
            if changed_at != self._wishes_at:
                self._wishes_at = changed_at
                return self._read_wishes(self._requests_dir)
        return None

    @staticmethod
    def _read_wishes(folder: str) -> str | None:
        wishes = []
        for entry in os.scandir(folder):
            if entry.name.startswith(wire.wish_name(0)[:-1]) and not entry.name.endswith(".new"):
                with contextlib.suppress(OSError):
                    with open(entry.path, encoding="ascii") as file:
                        wishes.append(file.read(16))
                    os.unlink(entry.path)
        return "stop" if "stop" in wishes else next(iter(wishes), None)


_TOLD = {Progress.SAVED: "saved", Progress.FAILED: "save_failed", Progress.GIVEN_UP: "save_given_up"}
