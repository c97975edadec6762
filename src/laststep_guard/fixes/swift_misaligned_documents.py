"""Why does a row with pictures in some documents only end in an IndexError, and how do its pictures stay in place?

ms-swift encodes the documents of a reranker's row one by one and gathers what each has under each key. A document
without a picture has nothing under `pixel_values`, so the list under that key is shorter than there are documents,
and whatever comes later moves up. The collator then reads past its end, or gives a document the picture of another
one.

Where chance draws no document past the end, stock trains on, with the wrong pictures; so the fix changes what is
trained, and has to be asked for.

The collator itself leaves out a `None`. So a document that has nothing under a key gets `None` there, and the lists
are as long as there are documents. Where every document has every key, nothing is touched.
"""

import functools
from types import ModuleType
from typing import Any, Callable, Dict, List

from laststep_guard.fixes.fix import Fix
from laststep_guard.fixes.swift_functions import COLLATOR, ENCODER
from laststep_guard.guardian import Guardian

NAME = "swift-misaligned-documents"

Method = Callable[..., Any]


def apply(module: ModuleType, guardian: Guardian) -> str:
    """Patch the template (`module`), in the trainer's process and in a loader worker with an interpreter of its own."""
    ENCODER.recognise(module)
    COLLATOR.recognise(module)  # it is what leaves out a None
    guardian.patches.wrap(module.Template, ENCODER.name, functools.partial(_aligning, guardian=guardian))
    return "a document without a picture keeps its place among those that have one"


def align(gathered: Dict[str, Any], documents: List[Dict[str, Any]]) -> None:
    """Make every list that was gathered from the documents as long as there are documents."""
    for key, values in gathered.items():
        # Lists of other things, the labels for one, are nobody's key.
        if len(values) != len(documents) and any(key in document for document in documents):
            gathered[key] = [document.get(key) for document in documents]


def _aligning(original: Method, *, guardian: Guardian) -> Method:
    def _reranker_encode(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.is_training:
            return original(self, *args, **kwargs)
        documents: List[Dict[str, Any]] = []
        encode = self._encode_truncated

        def noting(*args: Any, **kwargs: Any) -> Any:
            document = encode(*args, **kwargs)
            documents.append(document)
            return document

        # On the instance, for the length of this call: only the documents of this row are meant.
        self._encode_truncated = noting
        try:
            gathered = original(self, *args, **kwargs)
        finally:
            del self._encode_truncated
        with guardian.shield.over(f"{NAME}: aligning"):
            align(gathered, documents)
        return gathered

    return _reranker_encode


FIX = Fix(
    name=NAME,
    defect="A reranker row whose documents do not all have pictures gives them to the wrong documents, or ends the run",
    seen_on=("ms-swift 4.0.0", "ms-swift 4.6.0"),
    remedy_class="altering",
    after_import=ENCODER.module_name,
    apply=apply,
    in_workers=(ENCODER.module_name, apply),
)
