"""What does the torch of this process offer, and in which state is it? Asked only after the host has imported torch."""

from typing import Any, Optional, Tuple

from laststep_guard.frameworks.torch_processes import PinningMailbox


def find_multiprocessing() -> Any:
    """Give the multiprocessing module that torch's loader uses by default."""
    import torch.multiprocessing  # noqa: PLC0415  # the host has imported torch

    return torch.multiprocessing


def tell_why_not(loader: Any) -> Optional[str]:
    """Say why a loader is left to torch; None when it isn't."""
    if not getattr(loader, "in_order", True):
        return "in_order=False: left to torch"
    # Sharding and seeds of torch's own data pipes are torch's business.
    if any(kind.__name__ in {"IterDataPipe", "MapDataPipe"} for kind in type(loader.dataset).__mro__):
        return "a torch data pipe: left to torch"
    return None


def is_iterable(loader: Any) -> bool:
    """Tell a loader whose rows have no index."""
    from torch.utils.data import _DatasetKind  # noqa: PLC0415  # the host has imported torch

    return bool(loader._dataset_kind == _DatasetKind.Iterable)  # noqa: SLF001  # torch's own iterator reads it


def save_seed_source(loader: Any) -> Tuple[Any, Any]:
    """Give the generator that a loader's base seed is drawn from, and its state."""
    import torch  # noqa: PLC0415  # the host has imported it

    generator = loader.generator if loader.generator is not None else torch.default_generator
    return generator, generator.get_state()


def is_wrapped_exception(data: Any) -> bool:
    """Tell an exception that a worker hands over in place of a batch."""
    from torch._utils import ExceptionWrapper  # noqa: PLC0415  # the host has imported torch

    return isinstance(data, ExceptionWrapper)


def is_python_ending() -> bool:
    """Tell whether it is too late to end workers in order; multiprocessing ends them itself then."""
    from torch.utils.data import _utils  # noqa: PLC0415  # the host has imported torch

    return _utils is None or _utils.python_exit_status is not False


def make_pinning_mailbox(device: Any) -> PinningMailbox:
    """Make a mailbox that pins batches for a device, as torch's pin_memory thread does."""
    import torch  # noqa: PLC0415  # the host has imported it
    from torch.utils.data._utils.pin_memory import pin_memory  # noqa: PLC0415  # as above

    has_accelerator = hasattr(torch, "accelerator")  # torch 2.6 and newer
    index = torch.accelerator.current_device_index() if has_accelerator else torch.cuda.current_device()
    use = torch.accelerator.set_device_index if has_accelerator else torch.cuda.set_device

    def prepare_thread() -> None:
        torch.set_num_threads(1)
        use(index)

    return PinningMailbox(lambda data: data if is_wrapped_exception(data) else pin_memory(data, device), prepare_thread)
