"""Instances in a terminal and in a notebook: short, whole where that fits, and escaped."""

import pytest

import lemmata as lm


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("mechanics", ["8 tokens", "4 samples of up to 6 tokens"]),
        ("convergence", ["20 tokens", "samples of up to"]),
        ("selection", ["T = ", "q = ", "eta = "]),
        ("context", ["N = ", "tau = ", "H = "]),
    ],
)
def test_an_instance_shows_its_sizes_in_a_line(key: str, words: list[str]) -> None:
    (drawn,) = lm.draw(key, 1)
    assert len(repr(drawn)) < 150
    assert all(word in repr(drawn) for word in words)
    assert all(word in drawn._repr_html_() for word in words)
    assert len(drawn._repr_html_()) < 5_000


def test_a_notebook_shows_samples_one_by_one_and_escapes_them() -> None:
    sentences = [f"<b> w{i} <b>" for i in range(20)]
    page = lm.mechanics.Dataset.from_sentences("mine", sentences)._repr_html_()
    assert "sequences[11]" in page
    assert "sequences[12]" not in page
    assert "and 8 more" in page
    assert "<b>" not in page
