"""What do signals to laststep mean?

SIGINT and SIGTERM: stop the run well, the second time at once. SIGHUP and SIGQUIT: leave, and let it run.
SIGUSR1: save and go on. SIGTSTP and SIGCONT: laststep itself pauses and comes back; the training does not notice.
"""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType

from laststep.launch.connect import HolderLine
from laststep.launch.terminal import Terminal, pause_ourselves, read_window
from laststep.records.ending import StopManner

_Handler = Callable[[int, FrameType | None], None]


class Left(BaseException):  # not an error, and like KeyboardInterrupt it must pass through `except Exception`
    """The user, or the closing terminal, told laststep to leave the run alone."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class Interrupts:
    """Handles signals while a run is followed. A handler only sends a message, so it works while output is blocked."""

    def __init__(self, line: HolderLine, terminal: Terminal | None, screen: int | None) -> None:
        self._line = line
        self._terminal = terminal
        self._screen = screen
        self._stops = 0
        self._before: dict[int, object] = {}

    def __enter__(self) -> None:
        for number, handler in self._handlers().items():
            # What was switched off for us (nohup, a background job of a script) stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, handler)
        # Reading the terminal just when the shell has put us into the background shall fail, not pause us.
        self._before[signal.SIGTTIN] = signal.signal(signal.SIGTTIN, signal.SIG_IGN)

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as signal.signal gave it

    def _handlers(self) -> dict[int, _Handler]:
        return {
            signal.SIGINT: self._stop,
            signal.SIGTERM: self._stop,
            signal.SIGUSR1: self._save,
            signal.SIGHUP: self._leave,
            signal.SIGQUIT: self._leave,
            signal.SIGTSTP: self._pause,
            signal.SIGCONT: self._look_again,
            signal.SIGWINCH: self._look_again,
        }

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stops += 1
        self._line.stop(StopManner.WELL if self._stops == 1 else StopManner.AT_ONCE)

    def _save(self, _number: int, _frame: FrameType | None) -> None:
        self._line.save()

    def _leave(self, number: int, _frame: FrameType | None) -> None:
        raise Left(number)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        if self._terminal is not None:
            self._terminal.pause()
        else:
            pause_ourselves()
        self._look_again(number, frame)

    def _look_again(self, _number: int, _frame: FrameType | None) -> None:
        if self._terminal is not None:
            self._terminal.take()
        if self._screen is not None:
            self._line.resize(*read_window(self._screen))
