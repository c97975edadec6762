"""Which process is this, and what is guarded in it?

A *rank* trains: `LOCAL_RANK` is set, or it makes a trainer. A *launcher* starts ranks: it only records how its children
ended, which nobody else can know. A *child* of multiprocessing inherits the environment of its rank and stays itself:
only fixes that change what a loader worker computes go there, since a worker that was not forked knows nothing of its
parent's.
"""

import contextlib
import functools
import os
import sys
from types import ModuleType
from typing import Callable, List, Optional

from laststep_guard.emit import Emitter
from laststep_guard.fixes.catalog import FIXES
from laststep_guard.fixes.fix import Declined, Fix
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings, read_settings
from laststep_guard.shield import Shield
from laststep_guard.wire import EventKind

# Marks in a command line of processes that multiprocessing (and its third-party copies) starts for itself.
_CHILD_MARKS = (
    "spawn_main(", "multiprocessing.forkserver", "multiprocessing.resource_tracker", "multiprocess.spawn",
    "multiprocess.forkserver", "multiprocess.resource_tracker", "joblib.externals.loky",
    "torch._inductor.compile_worker",
)  # fmt: skip


def attach() -> Optional[Guardian]:
    """Attach the guard to this process, if laststep started it. Raises ValueError when the settings are garbled."""
    settings = read_settings()
    if settings is None:
        return None
    is_child = any(mark in argument for argument in _command_line() for mark in _CHILD_MARKS)
    guardian = make_guardian(settings, is_silent=is_child)
    if is_child:
        watch_fixes_in_worker(guardian)
    else:
        watch_frameworks(guardian)
        watch_fixes(guardian)
    return guardian


def make_guardian(settings: Settings, *, is_silent: bool = False) -> Guardian:
    """Make the guard of this process without hooking anything."""
    # RANK alone may be the number of a machine, set for the launcher there; a launcher sets LOCAL_RANK for its ranks.
    is_rank = os.environ.get("LOCAL_RANK", "").isdigit() and os.environ.get("RANK", "").isdigit()
    rank = int(os.environ["RANK"]) if is_rank else None
    emitter = Emitter(None if is_silent else settings.events_dir, rank)
    return Guardian(settings=settings, emitter=emitter, shield=Shield(emitter.emit), rank=rank)


def watch_frameworks(guardian: Guardian) -> None:
    """Hook the libraries as the host imports them."""
    from laststep_guard.frameworks.catalog import HOOKS  # noqa: PLC0415  # a child never needs them

    for module_name, hook in HOOKS:
        guarded = guardian.shield.wrap(f"hook {module_name}", hook)
        guardian.imports.after(module_name, functools.partial(_hook, guarded, guardian))


def watch_fixes(guardian: Guardian) -> None:
    """Apply the wanted fixes as the host imports what they mend, and report what the others would mend."""
    for fix in FIXES:
        if guardian.settings.wants_fix(fix.name, fix.remedy_class):
            guardian.imports.after(fix.after_import, functools.partial(_apply, fix, fix.apply, guardian))
        if fix.notice is not None:
            guardian.imports.after(fix.after_import, functools.partial(_notice, fix.notice, guardian))


def watch_fixes_in_worker(guardian: Guardian) -> None:
    """Apply to a loader worker with an interpreter of its own what its trainer's fixes rely on."""
    for fix in FIXES:
        if fix.in_workers is not None and guardian.settings.wants_fix(fix.name, fix.remedy_class):
            module_name, apply = fix.in_workers
            guardian.imports.after(module_name, functools.partial(_apply, fix, apply, guardian))


def _hook(hook: Callable[[ModuleType, Guardian], None], guardian: Guardian, module: ModuleType) -> None:
    hook(module, guardian)


def _apply(fix: Fix, apply: Callable[[ModuleType, Guardian], str], guardian: Guardian, module: ModuleType) -> None:
    with guardian.shield.over(f"fix {fix.name}"):
        try:
            detail = apply(module, guardian)
        except Declined as reason:
            guardian.emit(EventKind.FIX_DECLINED, name=fix.name, reason=str(reason))
        else:
            if detail:
                fields = {"name": fix.name, "class": fix.remedy_class, "detail": detail}
                guardian.emit(EventKind.FIX_APPLIED, **fields)


def _notice(notice: Callable[[ModuleType, Guardian], str], guardian: Guardian, module: ModuleType) -> None:
    with guardian.shield.over("notice a defect"), contextlib.suppress(Declined):
        notice(module, guardian)


def _command_line() -> List[str]:
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [part.decode("utf-8", "replace") for part in file.read().split(b"\0")]
    except OSError:
        return list(getattr(sys, "orig_argv", sys.argv))
