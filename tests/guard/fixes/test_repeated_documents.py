"""Does each document of a listwise batch get encoded once, with everything else as stock has it?"""

from types import SimpleNamespace

import pytest

from laststep_guard.emit import Emitter
from laststep_guard.fixes import swift_repeated_documents
from laststep_guard.fixes.fix import Declined
from laststep_guard.fixes.swift_repeated_documents import each_once
from laststep_guard.guardian import Guardian
from laststep_guard.settings import Settings
from laststep_guard.shield import Shield


def guardian():
    emitter = Emitter(None, None)
    return Guardian(Settings("test"), emitter, Shield(emitter.emit), None)


def document(*tokens, **more):
    return {"input_ids": list(tokens), "length": len(tokens), **more}


def test_a_repeated_document_is_left_out_and_found_again_by_the_index():
    """The index leads from every place of stock's list to the document that stands there."""
    positive, other, negative = document(1), document(2), document(3)
    listed = [dict(positive), dict(negative), dict(other), dict(negative)]

    remaining, index = each_once(listed)

    assert remaining == [positive, negative, other]
    assert [remaining[place] for place in index] == listed


def test_two_documents_that_read_the_same_stay_two():
    """Only what stock repeated is left out; what the data repeat has a gradient of its own."""
    remaining, index = each_once([document(1, 2), document(1, 2)])

    assert len(remaining) == 2
    assert index == [0, 1]


def test_a_document_with_an_image_differs_from_one_without():
    tokens = [1, 2]

    remaining, _ = each_once([{"input_ids": tokens}, {"input_ids": tokens, "pixel_values": object()}])

    assert len(remaining) == 2


def test_an_empty_list_stays_empty():
    assert each_once([]) == ([], [])


def test_an_unknown_collator_is_declined_by_name_and_nothing_is_changed(monkeypatch):
    """Whoever rewrote the collator may have taken the repetition out, or may rely on it."""

    class Template:
        def _reranker_data_collator(self, batch):
            return batch

    before = dict(vars(Template))
    monkeypatch.setitem(swift_repeated_documents.sys.modules, "swift.template.base", SimpleNamespace(Template=Template))
    ours = guardian()

    with pytest.raises(Declined, match=r"Template\._reranker_data_collator has a body that is not known"):
        swift_repeated_documents.apply(SimpleNamespace(), ours)

    assert dict(vars(Template)) == before


def test_a_missing_collator_is_declined():
    with pytest.raises(Declined, match="could not be read"):
        swift_repeated_documents.apply_in_worker(SimpleNamespace(), guardian())


LISTWISE = [
    ("generative_reranker", "listwise_reranker"),
    ("generative_reranker", "listwise_reranker", "padding_free", "gradient_checkpointing"),
    ("reranker", "listwise_reranker"),
    ("reranker", "listwise_reranker", "padding_free"),
]


@pytest.mark.slow
@pytest.mark.parametrize("run", LISTWISE, ids=" ".join)
def test_a_listwise_batch_is_the_same_with_each_document_encoded_once(drive, run):
    """Stock encodes a document once a positive; loss, gradients, scores, metrics and random numbers stay."""
    cases = drive("compare_documents.py", *run)

    assert cases["one row"]["encoded"] == [15, 7]  # 3 positives, each with 4 negatives
    assert cases["two images a document"]["encoded"] == [6, 4]
    assert cases["text and pictures in one row"]["encoded"] == [21, 11]
    assert cases["documents are drawn"]["encoded"] == [110, 22]  # all 12 negatives are drawn by one positive or another
    assert cases["only rows without negatives"]["encoded"] == [3, 3]
    for name, case in cases.items():
        assert case["differs"] == {}, name
        stock, fixed = case["loss"]
        assert fixed == pytest.approx(stock, abs=1e-6), name
        assert case["score_difference"] < 1e-6, name
        assert case["gradient_difference"] <= 1e-5 * max(case["gradient"], 1e-3), name
        assert case["gradient"] > 0 or name.startswith("only rows"), name


@pytest.mark.slow
def test_the_pointwise_loss_keeps_its_repetition(drive):
    """There a document counts as often as it stands in the batch."""
    cases = drive("compare_documents.py", "generative_reranker", "pointwise_reranker")

    for name, case in cases.items():
        stock, fixed = case["encoded"]
        assert stock == fixed, name
        assert case["differs"] == {}, name
        assert case["loss"][0] == case["loss"][1], name
        assert case["gradient_difference"] == 0, name
    assert cases["documents are drawn"]["encoded"] == [110, 110]


NOT_COMPARED = ("runtime", "second", "time", "speed", "memory", "checkpoint", "state", "flos")


@pytest.mark.slow
def test_a_real_run_logs_the_same_with_the_fix(drive):
    """Two loader workers, evaluation and saves; the losses, accuracies and metrics are those of stock."""
    runs = drive("real_run.py", swift_repeated_documents.NAME)

    assert [event["kind"] for event in runs["events"]] == ["applied"], runs["events"]
    stock, fixed = (
        [
            {
                name: float(value)
                for name, value in entry.items()
                if isinstance(value, (int, float)) and not any(word in name for word in NOT_COMPARED)
            }
            for entry in runs[name]
        ]
        for name in ("stock", "fixed")
    )
    assert sum("loss" in entry for entry in stock) == 4
    assert sum("eval_ndcg" in entry for entry in stock) == 2
    assert len(stock) == len(fixed)
    for expected, seen in zip(stock, fixed, strict=True):
        assert seen == pytest.approx(expected, abs=1e-5)
