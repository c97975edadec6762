"""Which steps, losses and saves does a transformers training tell its callbacks?

At the end of a step its rows are noted, at a log line its loss; at the end of a save, everything of it included that a
trainer above transformers' own has added, the rank says what lies in the checkpoint.
"""

import os
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, Tuple

from laststep_guard.guardian import Guardian
from laststep_guard.guards.fingerprints import Fingerprints
from laststep_guard.wire import EventKind


def hook_steps(module: ModuleType, guardian: Guardian) -> None:
    """Note steps, losses and saves. `module` is `transformers.trainer_callback`."""
    if not guardian.settings.wants_guard("resume"):
        return
    noter = _Noter(guardian)
    guardian.patches.wrap(module.CallbackHandler, "call_event", noter.around_event)


class _Noter:
    def __init__(self, guardian: Guardian) -> None:
        self._guardian = guardian
        self._fingerprints: Any = None

    def around_event(self, original: Callable[..., Any]) -> Callable[..., Any]:
        wrap = self._guardian.shield.wrap
        notes = {
            "on_step_end": wrap("note a step", self._note_step),
            "on_log": wrap("note a loss", self._note_loss),
            "on_save": wrap("note a part of a save", self._note_save),
        }

        def call_event(handler: Any, event: str, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            note = notes.get(event)
            if note is not None:
                note(args, state, kwargs)
            return original(handler, event, args, state, control, **kwargs)

        return call_event

    def _open(self) -> Fingerprints:
        if self._fingerprints is None:
            folder = self._guardian.settings.fingerprints_dir
            self._fingerprints = Fingerprints(folder, self._guardian.rank or 0)
        return self._fingerprints  # type: ignore[no-any-return]  # made just above

    def _note_step(self, _args: Any, state: Any, _kwargs: Dict[str, Any]) -> None:
        self._open().note_step(
            state.global_step, [rows.indices for rows in self._guardian.state.rows_by_batch.values()]
        )

    def _note_loss(self, _args: Any, state: Any, kwargs: Dict[str, Any]) -> None:
        logs = kwargs.get("logs") or {}
        if "loss" in logs:
            self._open().note_loss(state.global_step, logs["loss"])

    def _note_save(self, args: Any, state: Any, _kwargs: Dict[str, Any]) -> None:
        save = self._guardian.state.save
        if save is not None and save.has_failed:
            return
        step = state.global_step
        path = os.path.abspath(os.path.join(args.output_dir, f"checkpoint-{step}"))
        self._guardian.emit(
            EventKind.SAVE_PART_DONE, path=path, step=step, world_size=self._guardian.state.world_size,
            files=dict(_list_files(path)),
        )  # fmt: skip


def _list_files(folder: str) -> Iterator[Tuple[str, int]]:
    """List what lies in a checkpoint now, with sizes; what another rank still writes it will list itself."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            try:
                yield os.path.relpath(path, folder), os.stat(path).st_size
            except OSError:
                continue
