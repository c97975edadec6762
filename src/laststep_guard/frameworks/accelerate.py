"""Is a loss about to go backward that would leave the other ranks waiting?

`Accelerator.backward` is the one place that DDP and DeepSpeed trainings of every trainer pass. With several ranks a
loss that reaches no parameter is tied to the model's own output by an empty slice: the sum over no elements is zero,
and its backward pass still walks through the model, so this rank takes part in the gradient exchange. On one rank
nothing is changed.
"""

import sys
import weakref
from types import ModuleType
from typing import Any, Callable, List

from laststep_guard.guardian import Guardian
from laststep_guard.guards.loss import Reach, tell_reach
from laststep_guard.guards.memory_readings import read_own_bytes
from laststep_guard.wire import EventKind


def hook_backward(module: ModuleType, guardian: Guardian) -> None:
    """Look at every loss before its backward pass. `module` is `accelerate.accelerator`."""
    if guardian.settings.wants_guard("loss"):
        watch = _LossWatch(guardian)
        guardian.state.before_forward.append(guardian.shield.wrap("follow the model's output", watch.follow))
        guardian.patches.wrap(module.Accelerator, "backward", watch.around_backward)
    if guardian.settings.wants_guard("memory-budget"):
        guardian.patches.wrap(module.Accelerator, "backward", lambda original: _weighing_step(original, guardian))


def _weighing_step(original: Callable[..., Any], guardian: Guardian) -> Callable[..., Any]:
    """Note how much memory a step takes at its fullest: between forward and backward all activations are there."""
    state = guardian.state

    def backward(*args: Any, **kwargs: Any) -> Any:
        if state.wants_memory_samples:
            state.own_bytes_in_step = max(state.own_bytes_in_step, read_own_bytes())
        return original(*args, **kwargs)

    return backward


class _LossWatch:
    def __init__(self, guardian: Guardian) -> None:
        self._guardian = guardian
        self._torch: Any = sys.modules["torch"]
        self._tie: Any = None  # zero, grown from the model's output of this micro-batch
        self._followed: Any = None  # weak reference to the model that is followed
        self._remember = guardian.shield.wrap("remember the model's output", self._remember_output)
        self._checked = guardian.shield.wrap("look at a loss", self._check)

    def follow(self, model: Any) -> None:
        """Remember the output of a model that trains on several ranks."""
        self._tie = None
        if self._guardian.state.world_size < 2 or (self._followed is not None and self._followed() is model):
            return
        self._followed = weakref.ref(model)
        model.register_forward_hook(self._remember)

    def around_backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(accelerator: Any, loss: Any, **kwargs: Any) -> Any:
            tied = self._checked(loss)
            return original(accelerator, loss if tied is None else tied, **kwargs)

        return backward

    def _remember_output(self, model: Any, _inputs: Any, output: Any) -> None:
        if not (model.training and self._torch.is_grad_enabled()):
            return
        for tensor in _tensors(output):
            if self._torch.is_tensor(tensor) and tensor.grad_fn is not None:
                # The slice keeps no data alive, only the graph, which the loss holds as well until its backward pass.
                self._tie = (tensor if tensor.dim() else tensor.unsqueeze(0))[:0].sum()
                return

    def _check(self, loss: Any) -> Any:
        """Return the loss to use instead, or None to use the loss itself."""
        tie, self._tie = self._tie, None
        if not self._torch.is_tensor(loss):
            return None
        reach = tell_reach(loss.grad_fn, is_parameter=self._is_parameter, is_opaque=self._is_opaque)
        if reach is Reach.PARAMETERS:
            return None
        is_tied = tie is not None and self._guardian.state.world_size > 1
        self._guardian.emit(
            EventKind.LOSS_DETACHED, step=self._guardian.state.step + 1, micro_step=self._guardian.state.micro_step + 1,
            rows=self._guardian.describe(self._guardian.state.current_rows), tied=is_tied, reason=reach.value,
        )  # fmt: skip
        return loss + tie.to(dtype=loss.dtype, device=loss.device) if is_tied else None

    def _is_parameter(self, variable: Any) -> bool:
        return isinstance(variable, self._torch.nn.Parameter)

    def _is_opaque(self, node: Any) -> bool:
        return isinstance(node, self._torch.autograd.function.BackwardCFunction)


def _tensors(output: Any) -> List[Any]:
    """List the tensors of a model's output, logits first."""
    if isinstance(output, dict):
        return [output.get("logits"), *output.values()]
    if isinstance(output, (list, tuple)):
        return list(output)
    return [output]
