"""Where does torch make its data loaders' iterators, and which rows do they hand over?"""

from types import ModuleType
from typing import Any

from laststep_guard.frameworks.torch_loader import make_engine
from laststep_guard.frameworks.torch_own_batches import begin_own_batch, catch_up_own
from laststep_guard.guardian import Guardian, Rows
from laststep_guard.wire import EventKind


def hook_loader(module: ModuleType, guardian: Guardian) -> None:
    """Put our engine into torch's loader. `module` is `torch.utils.data.dataloader`."""
    single = module._SingleProcessDataLoaderIter  # noqa: SLF001  # torch has no public name for it
    guardian.patches.wrap(single, "_next_index", lambda original: _noting_rows(original, guardian))
    if not guardian.settings.wants_guard("loader"):
        return
    stock = module._MultiProcessingDataLoaderIter  # noqa: SLF001  # as above
    missing = [name for name in _RELIED_ON if not hasattr(stock, name)]
    if missing:
        guardian.emit(
            EventKind.GUARD_DECLINED, name="loader", reason=f"this torch's loader has no {', '.join(missing)}"
        )
        return
    guardian.patches.replace(module, "_MultiProcessingDataLoaderIter", make_engine(stock, guardian))


_RELIED_ON = ("_next_index", "_next_data", "_reset", "_shutdown_workers", "__next__")


def _noting_rows(original: Any, guardian: Guardian) -> Any:
    begin_batch = guardian.shield.wrap("note the states of a batch", begin_own_batch)
    catch_up = guardian.shield.wrap("set back the states", catch_up_own)

    def next_index(self: Any) -> Any:
        if guardian.state.is_evaluating:
            return original(self)
        catch_up(guardian, self)
        index = original(self)
        begin_batch(guardian, self)
        guardian.state.handed_over.append(Rows(self._dataset, index))
        return index

    return next_index
