"""What the loss tells of the way it came to be NaN or nothing."""

import pytest

from laststep.diagnosis.curve import AT_ONCE, NOTHING, ROSE, tell_beginning, tell_curve


def lines(losses, norms=None, quote=""):
    norms = norms or ["1.2"] * len(losses)
    return "\n".join(
        f"{{'loss': {quote}{loss}{quote}, 'grad_norm': {quote}{norm}{quote}}}"
        for loss, norm in zip(losses, norms, strict=True)
    )


@pytest.mark.parametrize("quote", ["", "'"])
def test_a_loss_that_rises_until_it_is_nan_rose(quote):
    assert list(tell_curve(lines(["2.1", "1.9", "2.0", "5.5", "48.7", "nan"], quote=quote))) == [ROSE]


def test_a_norm_that_rises_is_enough():
    norms = ["1.0", "1.1", "0.9", "40.0", "9e3", "nan"]

    assert list(tell_curve(lines(["2.1"] * 5 + ["nan"], norms))) == [ROSE]


def test_nan_in_the_first_step_came_at_once():
    assert list(tell_curve(lines(["0.0"], ["nan"]))) == [AT_ONCE]


@pytest.mark.parametrize("losses", [["2.1", "2.0", "1.9", "1.8", "1.7", "nan"], ["2.1", "2.0", "1.9"], ["1.20.04"]])
def test_a_level_loss_tells_nothing(losses):
    assert not list(tell_curve(lines(losses)))


def test_no_loss_and_no_gradient_is_told_of_the_first_steps():
    assert list(tell_beginning(lines(["0"] * 4, ["0"] * 4, "'"))) == [NOTHING]
    assert not list(tell_beginning(lines(["0.0"] * 4, ["0.3", "0", "0", "0"])))
    assert not list(tell_beginning("'loss': 0.0\n" * 4))
