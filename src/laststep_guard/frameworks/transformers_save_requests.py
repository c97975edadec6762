"""When does a transformers training save although its own schedule does not say so?

At the end of a step, after its callbacks have spoken: whoever wants a save is asked in turn, and all ranks come to the
same answer.
"""

from types import ModuleType
from typing import Any, Callable

from laststep_guard.guardian import Guardian


def hook_requests(module: ModuleType, guardian: Guardian) -> None:
    """Ask for saves at step ends. `module` is `transformers.trainer_callback`."""
    if guardian.settings.wants_guard("save"):
        guardian.patches.wrap(module.CallbackHandler, "call_event", lambda original: _asking(original, guardian))


def _asking(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    state = guardian.state

    def call_event(self: Any, event: str, *args: Any, **kwargs: Any) -> Any:
        control = original(self, event, *args, **kwargs)
        if event == "on_step_end" and state.trainer is not None:
            for is_due in state.is_save_due:  # all of them: some answer only once
                control.should_save |= is_due(state.trainer)
        return control

    return call_event
