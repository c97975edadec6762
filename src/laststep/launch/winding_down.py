"""What is due on the way from a running command to no process left?

Running ─(command ended)─▶ sweeping: SIGTERM to what is left, a moment, SIGKILL until nothing is.
Running ─(asked to stop)─▶ saving: all ranks save at one step and leave, then the sweep.
        ─(asked to stop)─▶ stopping, where they cannot be asked: SIGTERM to the ranks, the grace period, then the sweep.
Asked a second time, or to stop at once: the sweep begins with SIGKILL.
"""

import enum
import math
import os
import signal
from collections.abc import Callable

from laststep.host.clock import Clock
from laststep.host.processes import find_descendants, is_alive
from laststep.launch.ask_for_save import Progress, SaveRequests
from laststep.launch.orders import Orders
from laststep.launch.stop import ask_to_stop, end_descendants, find_ranks
from laststep.launch.traces import Traces
from laststep.records.ending import StopManner, StopRequest

_SWEEP_SECONDS = 3.0  # from SIGTERM to SIGKILL for what outlives the command
_LAUNCHER_SECONDS = 5.0  # for launchers to find out that their ranks have stopped
_STUCK_SECONDS = 10.0  # after SIGKILL; from then on it is said
_LOOK_SECONDS = 0.05  # between looks while something ends
_WISH_SECONDS = 0.5  # between looks whether a rank got a signal
_POLL_SECONDS = 2.0  # between looks at a run that runs
_POLL_SHARE = 0.01  # of one core at most, on machines with very many processes


class _Stage(enum.Enum):
    RUNNING = 1
    SAVING = 2  # ranks were asked to save and leave
    STOPPING = 3  # ranks were asked to leave
    SWEEPING = 4  # everything gets SIGTERM
    KILLING = 5


class WindingDown:
    """Ends the run's processes, step by step, as time passes."""

    def __init__(self, orders: Orders, *, clock: Clock, tell: Callable[..., None]) -> None:
        self._orders = orders
        self._clock = clock
        self._tell = tell
        self._pid = os.getpid()
        self._stage = _Stage.RUNNING
        self._deadline = 0.0
        self._asked: list[int] = []
        self._next_poll = self._next_wish = 0.0
        self.traces = Traces(self._pid, orders.events_dir, clock.now())
        self.requests: list[StopRequest] = []
        self.sweep_began_at: float | None = None
        self.swept = 0
        self._saves = SaveRequests(orders.requests_dir, orders.beats_dir, clock=clock, tell=tell)

    def ask_for_save(self) -> None:
        """Take somebody's request to save and go on."""
        if self._stage is _Stage.RUNNING:
            self._saves.ask(stop=False)

    def ask(self, manner: StopManner) -> None:
        """Take somebody's request to stop."""
        self.requests.append(StopRequest(manner, self._clock.now()))
        if manner is StopManner.AT_ONCE:
            self._tell(about="ending_at_once")
            self._kill()
        elif self._stage is _Stage.RUNNING:
            self.traces.look()  # while everybody is still there
            self._asked = find_ranks(self._pid, self._orders.beats_dir)
            if self._saves.ask(stop=True):
                self._enter(_Stage.SAVING, self._orders.grace_seconds)
            else:
                self._saves.refuse()
                ask_to_stop(self._asked)
                self._enter(_Stage.STOPPING, self._orders.grace_seconds)
            self._tell(about="stopping", processes=len(self._asked), grace_seconds=self._orders.grace_seconds)

    def look(self, *, command_has_ended: bool) -> None:
        """Do what is due now."""
        now = self._clock.monotonic()
        if self._stage is _Stage.RUNNING and command_has_ended:
            self._sweep()
        elif self._stage is _Stage.RUNNING:
            self._look_at_requests(now)
        elif self._stage is _Stage.SAVING:
            self._look_at_save(now, command_has_ended=command_has_ended)
        elif self._stage is _Stage.STOPPING:
            self._look_at_ranks(now, command_has_ended=command_has_ended)
        elif self._stage is _Stage.SWEEPING and now >= self._deadline:
            self._kill()
        elif self._stage is _Stage.KILLING:
            self._kill_again(now)
        if now >= self._next_poll:
            self._poll(now)

    def seconds_to_next_look(self) -> float:
        if self._stage is _Stage.RUNNING and not self._saves.is_under_way:
            return max(0.0, min(self._next_poll, self._next_wish) - self._clock.monotonic())
        return _LOOK_SECONDS

    def _look_at_requests(self, now: float) -> None:
        self._saves.look()
        if now >= self._next_wish:
            self._next_wish = now + _WISH_SECONDS
            wish = self._saves.take_wish()
            if wish is not None and not self._saves.ask(stop=wish == "stop") and wish == "stop":
                self._saves.refuse()
                ask_to_stop(find_ranks(self._pid, self._orders.beats_dir))

    def _look_at_save(self, now: float, *, command_has_ended: bool) -> None:
        progress = self._saves.look()
        if progress is Progress.GIVEN_UP:  # a rank is gone, or the training is at its end
            self._saves.refuse()
            ask_to_stop(self._asked)
            self._stage = _Stage.STOPPING
        elif now >= self._deadline and self._saves.is_under_way:
            self._saves.give_up()
            about = "save_cut_off" if progress is Progress.DECIDED else "no_step_ended"
            self._tell(about=about, grace_seconds=self._orders.grace_seconds)
        self._look_at_ranks(now, command_has_ended=command_has_ended)

    def _look_at_ranks(self, now: float, *, command_has_ended: bool) -> None:
        if now >= self._deadline:
            self._kill()
        elif self._asked and not any(is_alive(pid) for pid in self._asked):
            self._asked = []
            self._deadline = min(self._deadline, now + _LAUNCHER_SECONDS)
        elif not self._asked and command_has_ended:
            self._sweep()

    def _sweep(self) -> None:
        self._begin_sweep()
        end_descendants(self._pid, signal.SIGTERM)
        self._enter(_Stage.SWEEPING, _SWEEP_SECONDS)

    def _kill(self) -> None:
        self._begin_sweep()
        end_descendants(self._pid, signal.SIGKILL)
        self._enter(_Stage.KILLING, _STUCK_SECONDS)

    def _kill_again(self, now: float) -> None:
        living = end_descendants(self._pid, signal.SIGKILL)
        if now >= self._deadline:
            # In the kernel, on a dead file system or in a driver; it goes when the kernel lets go of it.
            self._tell(about="stuck", processes=living)
            self._deadline = math.inf

    def _begin_sweep(self) -> None:
        if self.sweep_began_at is None:
            self.traces.look()
            self.swept = sum(not process.is_zombie for process in find_descendants(self._pid))
            self.sweep_began_at = self._clock.now()

    def _enter(self, stage: _Stage, seconds: float) -> None:
        self._stage = stage
        self._deadline = self._clock.monotonic() + seconds

    def _poll(self, now: float) -> None:
        self.traces.look()
        cost = self._clock.monotonic() - now
        self._next_poll = now + max(_POLL_SECONDS, cost / _POLL_SHARE)
