"""How does a transformers training save, and perhaps stop, because somebody asks for it?

At the end of a step that all ranks agree on (`guards/agreement.py`). Who asks: `laststep save` and `laststep stop`,
which go through the holder, and a scheduler's SIGTERM or SIGUSR1 to the ranks themselves. After the save of a stop, and
when the others have saved too, each rank leaves with 143.
"""

import os
import signal
import threading
import time
from types import FrameType, ModuleType
from typing import Any, Callable, Optional, Tuple

from laststep_guard.guardian import Guardian
from laststep_guard.guards.agreement import Agreement
from laststep_guard.guards.peers import Peers, is_alive
from laststep_guard.wire import REFUSED_NAME, EventKind, Flag, wish_name

Method = Callable[..., Any]

_EXIT_CODE = 128 + signal.SIGTERM
_LOOK_SECONDS = 0.02
_TOGETHER_SECONDS = 10.0  # between signals that are one request
_LONGEST_DEAF_SECONDS = 10.0  # for the holder to take a wish
_LONGEST_WAIT_SECONDS = 60.0  # for the other ranks to end their part of the last save


def hook_stop(module: ModuleType, guardian: Guardian) -> None:
    """Let a training be asked for a save. `module` is `transformers.trainer`."""
    folder = guardian.settings.requests_dir
    if not guardian.settings.wants_guard("save") or not guardian.settings.wants_guard("heartbeat") or folder is None:
        return
    if not hasattr(module.Trainer, "_maybe_log_save_evaluate"):
        return
    requests = Requests(guardian, folder)
    wrap = guardian.shield.wrap
    guardian.state.at_train_begin.append(wrap("listen for requests", requests.begin))
    guardian.state.is_save_due.append(wrap("look for a request", requests.is_save_due, otherwise=False))
    guardian.patches.wrap(module.Trainer, "_maybe_log_save_evaluate", requests.around_saving)
    guardian.patches.wrap(module.Trainer, "train", requests.around_train)


class Requests:
    """What this rank was asked for."""

    def __init__(self, guardian: Guardian, folder: str) -> None:
        self._guardian = guardian
        self._folder = folder
        self._agreement = Agreement(folder)
        self._wished: Optional[str] = None  # by a signal, in a world of one
        self._asked_at: Optional[float] = None  # by the first SIGTERM
        self._unheard: Optional[Tuple[str, float]] = None  # the file of a wish, and until when it is left to the holder
        os.register_at_fork(after_in_child=guardian.shield.wrap("leave signals to the parent", self._give_back))

    def begin(self, _trainer: Any) -> None:
        """Listen to signals as long as the training lasts, where nobody else does."""
        self._wished = self._asked_at = None
        self._guardian.heartbeat.flags |= Flag.TAKES_REQUESTS
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread may; requests of the holder come through all the same
        for number in (signal.SIGTERM, signal.SIGUSR1):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._on_signal)
        self._note_handlers()

    def around_train(self, original: Method) -> Method:
        """Give the signals back when the training is over."""
        end = self._guardian.shield.wrap("stop listening", self._end)

        def train(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(trainer, *args, **kwargs)
            finally:
                end()

        return train

    def _end(self) -> None:
        self._guardian.heartbeat.flags &= ~(Flag.TAKES_REQUESTS | Flag.STOPS_BY_ITSELF)
        self._guardian.heartbeat.beat()
        self._give_back()
        if self._wished == "stop":
            _die()  # no step has ended since; the signal does what it does by default

    def _give_back(self) -> None:
        """Let signals do what they do by default: after the training, and in a forked child, as a loader worker is."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGUSR1):
                if signal.getsignal(number) == self._on_signal:
                    signal.signal(number, signal.SIG_DFL)

    def _note_handlers(self) -> None:
        is_theirs = signal.getsignal(signal.SIGTERM) not in (self._on_signal, signal.SIG_DFL)
        flags = self._guardian.heartbeat.flags
        self._guardian.heartbeat.flags = flags | Flag.STOPS_BY_ITSELF if is_theirs else flags & ~Flag.STOPS_BY_ITSELF

    # -- signals ------------------------------------------------------------------------------------------------------

    def _on_signal(self, number: int, _frame: Optional[FrameType]) -> None:
        """Ask for a save; one SIGTERM long after another, or after another rank has died, ends this rank as ever.

        A scheduler sends it to all, and the launcher that got it as well sends it once more.
        """
        is_stop, now = number == signal.SIGTERM, time.monotonic()
        if is_stop and self._asked_at is None:
            self._asked_at = now
        if is_stop and (now - (self._asked_at or now) > _TOGETHER_SECONDS or self._is_to_die()):
            _die()
        elif self._guardian.state.world_size == 1:
            self._wished = "stop" if is_stop or self._wished == "stop" else "save"
        else:
            self._guardian.shield.wrap("ask for a save", self._wish)("stop" if is_stop else "save")

    def _wish(self, what: str) -> None:
        path = os.path.join(self._folder, wish_name(os.getpid()))
        with open(f"{path}.new", "w", encoding="ascii") as file:
            file.write(what)
        os.replace(f"{path}.new", path)
        if what == "stop":
            self._unheard = path, time.monotonic() + _LONGEST_DEAF_SECONDS

    def _is_to_die(self) -> bool:
        return os.path.exists(os.path.join(self._folder, REFUSED_NAME)) or not self._are_peers_alive()

    def _are_peers_alive(self) -> bool:
        state = self._guardian.state
        if state.world_size == 1 or state.world_size != state.local_world_size:
            return True
        try:
            beats = Peers(self._guardian.settings.beats_dir, state.world_size).read()
        except OSError:
            return True
        return all(is_alive(beat.pid) for beat in beats)

    # -- saving and stopping ------------------------------------------------------------------------------------------

    def is_save_due(self, trainer: Any) -> bool:
        """At the end of a step: whether all ranks save here because somebody asked for it."""
        self._note_handlers()
        if self._unheard is not None and time.monotonic() > self._unheard[1]:
            if os.path.exists(self._unheard[0]):
                _die()  # nobody takes our wish: the signal does what it does by default
            self._unheard = None
        if self._wished is not None:
            stop, self._wished = self._wished == "stop", None
        else:
            proposal = self._agreement.look(trainer.state.global_step, self._guardian.heartbeat)
            if proposal is None:
                return False
            stop = proposal.stop
        # A training at its last step has nothing to be stopped from.
        self._guardian.state.is_stopping |= stop and trainer.state.global_step < trainer.state.max_steps
        return True

    def around_saving(self, original: Method) -> Method:
        """Leave after the save of a stop."""
        wait = self._guardian.shield.wrap("wait for the others", self._wait_for_others)

        def _maybe_log_save_evaluate(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(trainer, *args, **kwargs)
            if self._guardian.state.is_stopping:
                wait(trainer.state.global_step)
                raise SystemExit(_EXIT_CODE)
            return result

        return _maybe_log_save_evaluate

    def _wait_for_others(self, step: int) -> None:
        """Stay until every rank has left the save: a launcher ends all of them when the first one leaves."""
        guardian = self._guardian
        saved = guardian.heartbeat.last_save == step
        guardian.emit(EventKind.STOPPED_AT, step=step, saved=saved)
        if guardian.state.world_size == 1 or guardian.state.world_size != guardian.state.local_world_size:
            return
        peers, until = Peers(guardian.settings.beats_dir, guardian.state.world_size), time.monotonic()
        until += _LONGEST_WAIT_SECONDS
        while time.monotonic() < until:
            beats = peers.read()
            if all(abs(beat.last_save) >= step or not is_alive(beat.pid) for beat in beats):
                return
            time.sleep(_LOOK_SECONDS)


def _die() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)
