"""The trained weights of every setting: named matrices, which do what the columns say."""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

import lemmata as lm
from lemmata._errors import InputError


def test_of_mechanics_and_convergence() -> None:
    run = lm.train(lm.draw("mechanics", 3), steps=20)
    assert len(run.weights) == 3
    for i, weights in enumerate(run.weights):
        assert np.linalg.norm(weights["W"]) == pytest.approx(run.norm[i, -1])
    assert lm.train(lm.draw("mechanics"), steps=2, heads=3).weights[0]["W"].shape == (3, 8, 8)
    for algorithm in ("flow", "factored"):
        other = lm.train(lm.draw("mechanics", 1), steps=3, algorithm=algorithm)
        assert np.linalg.norm(other.weights[-1]["W"]) == pytest.approx(other.norm[0, -1])
    run = lm.train(lm.draw("convergence", 2), steps=20)
    W_kq, W_ov = run.weights[1]["W_kq"], run.weights[1]["W_ov"]
    assert np.linalg.norm(W_kq) == pytest.approx(run.norm[1, -1])
    tokens = [3, 5, 4]
    attention = softmax(W_kq[tokens, 4])
    np.testing.assert_allclose(run.model.attention(1, tokens), attention)
    np.testing.assert_allclose(run.model.predict(1, tokens), softmax(W_ov[:, tokens] @ attention))


def test_of_factored_convergence() -> None:
    run = lm.train(lm.draw("convergence", 1), steps=5, algorithm="factored", heads=2)
    heads = run.weights[0]
    assert {name: matrix.shape for name, matrix in heads.items()} == {
        "W_kq": (2, 20, 20),
        "W_ov": (2, 20, 20),
    }
    tokens = [3, 5, 4]
    logits = sum(
        W_ov[:, tokens] @ softmax(W_kq[tokens, 4])
        for W_kq, W_ov in zip(heads["W_kq"], heads["W_ov"], strict=True)
    )
    np.testing.assert_allclose(run.model.predict(0, tokens), softmax(logits), rtol=1e-6)


@pytest.mark.parametrize("number", [0, 3])  # one-hot encodings, and orthogonal signs
def test_of_selection(number: int) -> None:
    plan = lm.draw("selection", 4)[number]
    run = lm.train(plan, steps=3_000)
    V, W = run.weights[0]["V"], run.weights[0]["W"]
    d, T, q = plan.task.d, plan.task.T, plan.task.q
    E = np.eye(T) if plan.encodings is None else plan.encodings
    chosen = np.arange(T) < q
    attention = softmax(E.T @ W[d:, d:] @ E[:, chosen].sum(axis=1))
    assert attention[~chosen].sum() == pytest.approx(run.missed[0, -1], rel=1e-9)
    np.testing.assert_allclose(V[:, :d], run.alpha[0, -1] * np.eye(d))
    assert not V[:, d:].any()
    assert not W[:d].any()


def test_of_selection_on_samples() -> None:
    plan = lm.selection.Plan("p", lm.selection.Task(6, 2, 1), 0.1, 1e-2)
    run = lm.train(plan, steps=3, algorithm="sgd", factors=2, initial=0.1)
    weights = run.weights[0]
    assert list(weights) == ["V", "W", "K", "Q"]
    np.testing.assert_allclose(weights["W"], weights["K"].T @ weights["Q"])
    heads = lm.train(plan, steps=3, algorithm="adam", heads=3, initial=0.1).weights[0]
    assert {name: matrix.shape for name, matrix in heads.items()} == {
        "V": (3, 1, 7),
        "W": (3, 7, 7),
    }
    net = lm.train(plan, steps=3, algorithm="adam", width=5).weights[0]
    assert net["first"].shape == (5, 12)
    large = lm.selection.Plan("large", lm.selection.Task(60_000, 2, 1), 0.1, 1e-2)
    weights = lm.train(large, steps=3).weights
    with pytest.raises(InputError, match=r"W has 60,001 rows, too many .* it is C, in run\.C"):
        _ = weights[0]


def test_of_context() -> None:
    run = lm.train(lm.draw("context", 2), steps=30)
    Q, w = run.weights[1]["Q"], run.weights[1]["w"]
    task = run.instances[1].task
    attention = softmax(np.einsum("an,hab,bk->hnk", task.prompt, Q, task.tokens), axis=1)
    combined = np.einsum("hnk,hk->nk", attention, w)
    np.testing.assert_allclose(combined, run.model[1].combined, rtol=1e-9)
    encoder = lm.train(lm.draw("context", 1), steps=2, algorithm="adam", layers=2).weights[0]
    assert encoder["layers.widen.weight"].shape[0] == 2


def test_what_was_not_trained_has_none() -> None:
    good, bad = (
        lm.mechanics.Dataset.from_sentences(name, [text])
        for name, text in (("good", "a b a"), ("bad", "a b c"))
    )
    run = lm.train([bad, good], steps=3)
    assert run.weights[1]["W"].shape == (2, 2)
    with pytest.raises(InputError, match="bad was not trained: no label occurs"):
        _ = run.weights[0]


def test_what_is_asked_for_wrongly_is_told() -> None:
    run: Any = lm.train(lm.draw("mechanics", 2), steps=3)
    assert len(run.weights[:]) == 2
    assert len(repr(run.weights)) < 100
    with pytest.raises(IndexError, match="there is no instance 2; there are 2"):
        _ = run.weights[2]
    with pytest.raises(InputError, match=r"as in run.weights\[0\]; got 'W'"):
        _ = run.weights["W"]
    with pytest.raises(AttributeError, match=r"unknown column 'W'.* are in run.weights\[0\]"):
        _ = run.W
    with pytest.raises(InputError, match=r"unknown measurement '0' \(known: "):
        _ = run.model["0"]
