"""Do the documents of a row keep their pictures when some have none?"""

from types import SimpleNamespace

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.fixes import swift_misaligned_documents
from laststep_guard.fixes.fix import Declined
from laststep_guard.fixes.swift_misaligned_documents import align
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


def test_a_document_without_a_picture_gets_none_in_its_place():
    """The collator leaves out a None."""
    documents = [{"ids": [1]}, {"ids": [2], "picture": "two"}, {"ids": [3]}]
    gathered = {"ids": [[1], [2], [3]], "picture": ["two"], "labels": [1, 0, 0]}

    align(gathered, documents)

    assert gathered == {"ids": [[1], [2], [3]], "picture": [None, "two", None], "labels": [1, 0, 0]}


def test_complete_lists_stay_the_very_same():
    ids, other = [[1], [2]], [7, 8, 9]
    gathered = {"ids": ids, "not from documents": other}

    align(gathered, [{"ids": [1]}, {"ids": [2]}])

    assert gathered["ids"] is ids
    assert gathered["not from documents"] is other


def test_an_unknown_encoder_is_declined():
    emitter = Emitter(None, None)
    guardian = Guardian(Settings("test"), emitter, Shield(emitter.emit), None)

    class Template:
        def _reranker_encode(self, inputs):
            return inputs

    with pytest.raises(Declined, match=r"Template\._reranker_encode has a body that is not known"):
        swift_misaligned_documents.apply(SimpleNamespace(Template=Template), guardian)


@pytest.mark.slow
def test_documents_of_a_mixed_row_score_what_they_score_apart(drive):
    """Stock ends in an IndexError on such a row, and rows of one kind come out as before."""
    result = drive("compare_alignment.py")

    assert result["stock_error"] == "IndexError"
    assert result["mixed"] == pytest.approx(result["apart"], abs=1e-6)
    assert len(result["mixed"]) == 4
    assert result["unmixed_rows_agree"]
