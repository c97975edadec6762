"""Why does ms-swift encode 110 documents where a row has 20, and how does it come to encode 20?

A listwise row becomes one group a positive: the positive, then its negatives. The collator writes the negatives out
anew for every group, so 10 positives and 10 negatives cost 110 documents of pixels, tokens and forward pass.

Stock's collator goes on drawing the documents itself, with the same random numbers in the same order. Only the list
that it hands on to be made into tensors holds each document once; the batch carries, under `INDEX_KEY`, which
document stands at which place of stock's list. Between the forward pass and stock's loss function the scores are
expanded by that index. From there on everything is stock's: loss, accuracy, metrics, and what evaluation gathers.

The two halves meet in different processes: the collator runs in loader workers, the expansion in the trainer. The
trainer therefore marks its template when the run is one that this fix is for; a worker that knows nothing of the fix
collates as stock does, and a batch without an index is computed as stock would.
"""

import functools
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Tuple

from laststep_guard.fixes.fix import Fix
from laststep_guard.fixes.swift_functions import COLLATOR, COMPUTE_LOSS
from laststep_guard.guardian import Guardian

NAME = "swift-repeated-documents"
INDEX_KEY = "laststep_document_index"
_MARK = "_laststep_each_document_once"  # on a template; travels into forked and spawned workers alike
_PATCHED = "_laststep_collates_once"

Method = Callable[..., Any]


def apply(module: ModuleType, guardian: Guardian) -> str:
    """Patch the reranker's trainer (`module`) and the template it collates with, in the trainer's process."""
    template_module = COLLATOR.recognise(sys.modules.get(COLLATOR.module_name))  # the trainer's module imports it
    COMPUTE_LOSS.recognise(module)
    _patch_collator(template_module, guardian)
    trainer = module.RerankerTrainer
    guardian.patches.wrap(trainer, "__init__", functools.partial(_marking, guardian=guardian))
    guardian.patches.wrap(trainer, "compute_loss", _expanding)
    return "a listwise batch encodes each document once; its scores are expanded by index before the loss"


def apply_in_worker(module: ModuleType, guardian: Guardian) -> str:
    """Patch the template (`module`) alone, in a loader worker that was not forked from the patched trainer."""
    COLLATOR.recognise(module)
    _patch_collator(module, guardian)
    return "this worker collates each document of a listwise batch once"


def each_once(documents: List[Dict[str, Any]]) -> Tuple[List[Dict[str, Any]], List[int]]:
    """Leave out what is there already; also say for every place of the list which remaining document stands there.

    Documents are told apart by the objects they are made of: stock picks them from a row by position, so a repeated
    document is made of the very same objects, and nothing has to be compared.
    """
    places: Dict[Any, int] = {}
    remaining: List[Dict[str, Any]] = []
    index = []
    for document in documents:
        identity = frozenset((key, id(value)) for key, value in document.items())
        place = places.setdefault(identity, len(remaining))
        if place == len(remaining):
            remaining.append(document)
        index.append(place)
    return remaining, index


def _patch_collator(module: ModuleType, guardian: Guardian) -> None:
    if hasattr(getattr(module.Template, COLLATOR.name), _PATCHED):
        return  # a spawned worker can come to import the trainer as well

    def collating_once(original: Method) -> Method:
        def _reranker_data_collator(self: Any, batch: Any, *args: Any, **kwargs: Any) -> Any:
            if not (getattr(self, _MARK, False) and self.is_training):
                return original(self, batch, *args, **kwargs)
            once = _CollateOnce(self, guardian)
            # On the instance, for the length of this call: only what stock's collator itself hands on is meant.
            self._data_collator = once
            try:
                collated = original(self, batch, *args, **kwargs)
            finally:
                del self._data_collator
            return once.with_index(collated)

        setattr(_reranker_data_collator, _PATCHED, True)
        return _reranker_data_collator

    guardian.patches.wrap(module.Template, COLLATOR.name, collating_once)


class _CollateOnce:
    """Stands in for a template's `_data_collator` while the reranker's collator runs."""

    def __init__(self, template: Any, guardian: Guardian) -> None:
        self._collate = template._data_collator  # noqa: SLF001  # the method that is stood in for
        self._each_once = guardian.shield.wrap(f"{NAME}: telling documents apart", each_once)
        self._leads_with_documents = not template.padding_free
        self._index: List[int] = []

    def __call__(self, documents: List[Dict[str, Any]], *args: Any, **kwargs: Any) -> Any:
        found = self._each_once(documents)
        if found is None or len(found[0]) == len(documents):
            return self._collate(documents, *args, **kwargs)
        remaining, self._index = found
        return self._collate(remaining, *args, **kwargs)

    def with_index(self, collated: Dict[str, Any]) -> Dict[str, Any]:
        if not self._index:
            return collated
        index = {INDEX_KEY: collated["labels"].new_tensor(self._index)}  # integers on the CPU, like the labels
        # transformers counts a batch by its first tensor, so stock's number of documents comes first. A packed batch
        # counts as one there, which the other order leaves as it is.
        return {**index, **collated} if self._leads_with_documents else {**collated, **index}


def _marking(original: Method, *, guardian: Guardian) -> Method:
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # it replaces one
        original(self, *args, **kwargs)
        with guardian.shield.over(f"{NAME}: reading the trainer"):
            setattr(self.template, _MARK, _is_meant_for(self))

    return __init__


def _is_meant_for(trainer: Any) -> bool:
    """Tell whether this trainer compares documents in groups and gets one score a document.

    The pointwise loss weighs a document by how often it stands in the batch; there the repetition is part of the
    training. Sequence parallelism cuts documents up between ranks, which this fix was never tried with.
    """
    template = trainer.template
    return (
        trainer.args.loss_type == "listwise_reranker"
        and trainer.compute_loss_func is not None
        and not template.use_megatron
        and template.sequence_parallel_size == 1
    )


def _expanding(original: Method) -> Method:
    def compute_loss(self: Any, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        index = inputs.pop(INDEX_KEY, None)
        if index is None:
            return original(self, model, inputs, *args, **kwargs)
        loss_function = self.compute_loss_func

        def loss_of_all(outputs: Any, labels: Any, **more: Any) -> Any:
            _expand(outputs, index)
            return loss_function(outputs, labels, **more)

        # The one place between the scores, one a document by now, and everything that reads them.
        self.compute_loss_func = loss_of_all
        try:
            return original(self, model, inputs, *args, **kwargs)
        finally:
            self.compute_loss_func = loss_function

    return compute_loss


def _expand(outputs: Any, index: Any) -> None:
    """Give the scores a row for each place of stock's list, where they have one for each document."""
    scores = outputs.logits
    if not scores.requires_grad:
        # Evaluation gathers whatever it finds in an output; in training nobody looks at the rest.
        for key, value in list(outputs.items()):
            if key != "logits" and getattr(value, "ndim", 0) and value.shape[0] == scores.shape[0]:
                outputs[key] = value[index.to(value.device)]
    outputs.logits = _expanded(scores, index)


def _expanded(scores: Any, index: Any) -> Any:
    """Expand the scores; gradients are added up in single precision or better, as stock does where they meet."""
    index = index.to(scores.device)
    if scores.element_size() >= 4:  # bytes of single precision
        return scores[index]
    return scores.float()[index].to(scores.dtype)


FIX = Fix(
    name=NAME,
    defect="A listwise reranker batch encodes every negative once for each positive: 10 and 10 documents become 110",
    seen_on=("ms-swift 4.0.0", "ms-swift 4.6.0"),
    remedy_class="equivalent",
    after_import=COMPUTE_LOSS.module_name,
    apply=apply,
    in_workers=(COLLATOR.module_name, apply_in_worker),
)
