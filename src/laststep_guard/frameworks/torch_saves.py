"""Where do torch and DeepSpeed write the files of a checkpoint?

`torch.save` is the one door for most of them. DeepSpeed's `save_checkpoint` has barriers before, between and after its
files, and makes folders, copies a script and writes `latest` by other doors.
"""

import builtins
from types import ModuleType, TracebackType
from typing import Any, Optional, Type

from laststep_guard.frameworks.file_writes import forgiving, note_failed_write, tell_reason
from laststep_guard.guardian import Guardian


def hook_save(module: ModuleType, guardian: Guardian) -> None:
    """Let a failed `torch.save` not end a save. `module` is `torch.serialization`, which torch takes it from."""
    if guardian.settings.wants_guard("save"):
        guardian.patches.wrap(
            module, "save", lambda original: forgiving(original, guardian, lambda _object, f, *_args, **_kwargs: f)
        )


def hook_deepspeed_files(module: ModuleType, guardian: Guardian) -> None:
    """Let files that DeepSpeed writes by itself not end a save. `module` is `deepspeed.runtime.engine`."""
    if not guardian.settings.wants_guard("save"):
        return
    engine = module.DeepSpeedEngine
    if hasattr(engine, "_copy_recovery_script"):
        guardian.patches.wrap(
            engine, "_copy_recovery_script", lambda original: forgiving(original, guardian, lambda _self, path: path)
        )
    guardian.patches.replace(module, "open", _opening(guardian))  # `latest`, between two collectives


def hook_deepspeed_folders(module: ModuleType, guardian: Guardian) -> None:
    """Let folders that cannot be made not end a save. `module` is DeepSpeed's `checkpoint_engine`."""
    if guardian.settings.wants_guard("save"):
        guardian.patches.wrap(
            module.CheckpointEngine, "makedirs",
            lambda original: forgiving(original, guardian, lambda _self, path, *_args, **_kwargs: path),
        )  # fmt: skip


def _opening(guardian: Guardian) -> Any:
    """Give an `open` whose files, written during a save, forgive."""

    def forgiving_open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not guardian.state.is_saving or "w" not in mode:
            return builtins.open(file, mode, *args, **kwargs)
        return _ForgivingFile(guardian, file, mode, *args, **kwargs)

    return forgiving_open


class _ForgivingFile:
    """A file to be written in a `with` block."""

    def __init__(self, guardian: Guardian, file: Any, *args: Any, **kwargs: Any) -> None:
        self._guardian = guardian
        self._name = file
        self._file: Any = None
        try:
            self._file = builtins.open(file, *args, **kwargs)  # noqa: SIM115  # closed by our own __exit__
        except OSError as error:
            self._forgive(error)

    def __enter__(self) -> "_ForgivingFile":  # noqa: PYI034  # Self is not in Python 3.9
        return self

    def write(self, data: Any) -> int:
        """Write, as far as that goes."""
        try:
            if self._file is not None:
                self._file.write(data)
        except OSError as error:
            self._forgive(error)
        return len(data)

    def __exit__(
        self, _type: Optional[Type[BaseException]], _value: Optional[BaseException], _traceback: Optional[TracebackType]
    ) -> None:
        try:
            if self._file is not None:
                self._file.close()
        except OSError as error:
            self._forgive(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def _forgive(self, error: OSError) -> None:
        reason = tell_reason(self._guardian, error)
        if reason is None:
            raise error
        note_failed_write(self._guardian, reason, lambda: self._name)
