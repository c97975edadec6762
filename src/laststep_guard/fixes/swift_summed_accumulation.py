"""Why is the reranker's loss K times too high with K micro-batches a step, and how does it become a mean?

transformers divides the loss of a micro-batch by the number of micro-batches, unless the trainer has a loss function
of its own: that one is expected to have done so. ms-swift's reranker trainer has one, and divides only when the model
takes loss arguments (`model_accepts_loss_kwargs`), which the vision-language models say they do not. So nobody
divides: the logged loss and the gradients are sums, and clipping at norm 1 cuts nearly every step.

A mean changes the training (a smaller gradient under the same clipping and learning rate), so it has to be asked for.
`notice` says that the shown loss is a sum; `apply` makes it a mean.
"""

import functools
import inspect
from types import ModuleType
from typing import Any, Callable

from laststep_guard import wire
from laststep_guard.fixes.fix import Declined, Fix
from laststep_guard.fixes.swift_functions import COMPUTE_LOSS
from laststep_guard.guardian import Guardian

NAME = "swift-summed-accumulation"
_AVERAGES = "_laststep_averages"

Method = Callable[..., Any]


def apply(module: ModuleType, guardian: Guardian) -> str:
    """Let the reranker's trainer (`module`) divide by the number of micro-batches where nobody else does."""
    _recognise(module)
    guardian.patches.wrap(module.RerankerTrainer, "compute_loss", functools.partial(_averaging, guardian=guardian))
    return "where nobody divides, the loss is divided by the number of micro-batches of its step"


def notice(module: ModuleType, guardian: Guardian) -> str:
    """Report, when a training with this `module`'s trainer begins, that its loss is a sum or was made a mean."""
    _recognise(module)

    def tell(trainer: Any) -> None:
        factor = trainer.args.gradient_accumulation_steps
        if (
            isinstance(trainer, module.RerankerTrainer)
            and guardian.rank in (None, 0)
            and factor > 1
            and _is_summed(trainer)
        ):
            fixed = hasattr(module.RerankerTrainer.compute_loss, _AVERAGES)
            guardian.emit(wire.EventKind.LOSS_SUMMED, factor=factor, fixed=fixed)

    guardian.state.at_train_begin.append(guardian.shield.wrap(f"{NAME}: noticing", tell))
    return "looks at the beginning of a training whether its loss is a sum"


def _recognise(module: ModuleType) -> None:
    """Raise `Declined` unless ms-swift's half of the division is known and transformers has the rule told above."""
    COMPUTE_LOSS.recognise(module)
    step = inspect.unwrap(module.RerankerTrainer.training_step)
    code = getattr(step, "__code__", None)
    # Two marks of the rule rather than a body: transformers rewrites this method in every other release. The second one
    # says that DeepSpeed is kept from dividing by itself.
    if code is None or "compute_loss_func" not in code.co_names or not _names_constant(code, "scale_wrt_gas"):
        raise Declined(f"{step.__module__}.{step.__qualname__} does not leave the division to the loss function")


def _names_constant(code: Any, name: str) -> bool:
    return any(name == constant or (isinstance(constant, tuple) and name in constant) for constant in code.co_consts)


def _is_summed(trainer: Any) -> bool:
    """Tell whether neither transformers, nor ms-swift, nor accelerate divides."""
    transformers_divides = trainer.compute_loss_func is None or getattr(trainer, "loss_is_scaled_for_ga", None) is False
    swift_divides = trainer.model_accepts_loss_kwargs
    accelerate_divides = not trainer.is_deepspeed_enabled and trainer.accelerator.gradient_accumulation_steps > 1
    return not (transformers_divides or swift_divides or accelerate_divides)


def _divisor(trainer: Any, model: Any) -> int:
    if not model.training or not _is_summed(trainer):
        return 1
    # The last step of an epoch can have fewer micro-batches than were asked for.
    asked_for = trainer.args.gradient_accumulation_steps
    return int(getattr(trainer, "current_gradient_accumulation_steps", asked_for))


def _averaging(original: Method, *, guardian: Guardian) -> Method:
    divisor_of = guardian.shield.wrap(f"{NAME}: reading the trainer", _divisor, otherwise=1)

    def compute_loss(self: Any, model: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, model, *args, **kwargs)
        divisor = divisor_of(self, model)
        if divisor == 1:
            return result
        if isinstance(result, tuple):
            return (result[0] / divisor, *result[1:])
        return result / divisor

    setattr(compute_loss, _AVERAGES, True)
    return compute_loss


FIX = Fix(
    name=NAME,
    defect="The reranker's loss and gradients are summed over the micro-batches of a step instead of averaged",
    seen_on=("ms-swift 4.0.0 with transformers 4.57.6", "ms-swift 4.6.0 with transformers 5.19.0"),
    remedy_class="altering",
    after_import=COMPUTE_LOSS.module_name,
    apply=apply,
    notice=notice,
)
