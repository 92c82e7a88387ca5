"""What a user of the paper can ask for: other data, starts, losses, algorithms and limits."""

import json
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from oracles import descent

import lemmata as lm
from lemmata._errors import InputError
from lemmata.papers.mechanics.figures._parts import outside_gap
from lemmata.papers.mechanics.setting import (
    SETTING,
    Dataset,
    Recipe,
    Training,
    _degeneracy,
    equicorrelated,
    pseudo_limits,
)
from lemmata.papers.mechanics.setting._options import request_of
from lemmata.papers.mechanics.setting._pseudo import SCORE_DERIVATIVES
from lemmata.papers.mechanics.setting._wording import _order
from lemmata.training import fold, stream, words

TOY = Dataset.from_sentences("toy", {"a b c a": 3, "b a c b": 1, "x c x": 2})
ROWS = [(s.tokens, s.label) for s in TOY.data.samples for _ in range(s.count)]


def drawn(**sizes) -> Dataset:
    return Recipe(**sizes).draw("one", np.random.default_rng(2))


def test_recipes_speak_the_letters_of_the_paper():
    dataset = drawn(K=5, d=7, n=3, T=4)
    assert dataset.E.shape == (5, 7)
    assert dataset.data.total == 3
    assert all(len(set(s.tokens)) == 4 for s in dataset.data.samples)
    sizes, every = "K = 5, d = 7, n = 3, T = 4", Recipe(5, 7, 3, 4, rho=0.25, labels="priority")
    assert Recipe(5, 7, 3, 4, repeated=True).says == f"random datasets ({sizes}, repeated tokens)"
    assert replace(every, one_last=True).says == (
        f"random datasets ({sizes}, labels by priority, embeddings of correlation 0.25, "
        "one last token)"
    )


def test_no_records_are_the_usual_ones():
    assert request_of({"record": [], "steps": 9}).training.record == "log"
    assert request_of({"record": [4], "steps": 9}).training.record == (4,)


def test_factors_say_how_wide_they_are():
    plain, wide = Training(algorithm="factored"), Training(algorithm="factored", width=3)
    assert plain.what == "normalized gradient descent on K and Q, W = K Q^T"
    assert wide.what == "normalized gradient descent on K and Q of width 3, W = K Q^T"


@pytest.mark.parametrize("rho", [0.0, 0.4, -0.25])
def test_embeddings_with_one_correlation(rho):
    E = drawn(K=5, d=8, n=3, T=4, rho=rho).E
    np.testing.assert_allclose(E @ E.T, np.full((5, 5), rho) + (1 - rho) * np.eye(5), atol=1e-12)
    assert drawn(K=5, d=8, n=3, T=4, rho=0.0).orthonormal
    with pytest.raises(InputError, match=r"between -0\.25 and 1"):
        equicorrelated(5, -0.3)


def test_repeated_tokens_and_one_last_token():
    dataset = drawn(K=3, d=4, n=9, T=8, repeated=True, one_last=True)
    assert {s.query for s in dataset.data.samples} == {0}
    assert {len(s.tokens) for s in dataset.data.samples} == {8}
    assert any(len(set(s.tokens)) < 8 for s in dataset.data.samples)
    single = drawn(K=6, d=6, n=9, T=4, one_last=True)
    assert all(len(set(s.tokens)) == 4 and s.tokens[-1] == 0 for s in single.data.samples)
    with pytest.raises(InputError, match="unless they are repeated"):
        drawn(K=3, d=4, n=9, T=8)


def test_correlated_embeddings_for_a_file(tmp_path):
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(TOY.document()))
    (read,) = SETTING.read(path, Path("rho=0.5"))
    np.testing.assert_allclose(read.E, equicorrelated(4, 0.5))
    assert SETTING.read(path, Path("rho=0"))[0].embeddings is None
    with pytest.raises(InputError, match="takes a number"):
        SETTING.read(path, Path("rho=half"))


def test_losses_by_the_names_of_the_authors():
    for name, usual in (("mse", "squared"), ("corr", "linear")):
        assert Training(loss=name) == Training(loss=usual)
        assert SETTING.prepare([TOY], {"loss": name})[0].training.loss == usual


def test_starts_of_ones_own(tmp_path):
    start = np.random.default_rng(0).standard_normal((4, 4))
    np.save(tmp_path / "start.npy", start)
    expected = np.linalg.norm(
        descent.train(ROWS, TOY.E, start, 0.01, 5, normalized=True)[[0, 5]], axis=(1, 2)
    )
    for given in (start, str(tmp_path / "start.npy")):
        run = lm.train(TOY, start=given, steps=5, record=(0, 5))
        np.testing.assert_allclose(run.norm[0], expected, rtol=1e-12)
    draw = np.random.default_rng(7).uniform(-1, 1, (4, 4)) / 2
    assert lm.train(TOY, start="random", seed=7, steps=0).norm[0, 0] == pytest.approx(
        np.linalg.norm(draw), rel=1e-14
    )
    assert (
        lm.train(lm.train(TOY, start=start, steps=0).instances[0], start="zero", steps=0).norm == 0
    )
    for wrong, words_ in ((np.eye(3), "needs that of W"), ("warm", "zero, random, or a .npy")):
        with pytest.raises(InputError, match=words_):
            lm.train(TOY, start=wrong, steps=1)


def test_stochastic_descent_step_by_step():
    run = lm.train(TOY, algorithm="sgd", batch=2, seed=5, rate=0.3, steps=6, record=range(7))
    W, norms = np.zeros((4, 4)), [0.0]
    reached = np.cumsum(TOY.data.frequencies)
    samples = [(s.tokens, s.label) for s in TOY.data.samples]
    for t in range(6):
        source = fold(stream(5), jnp.uint32(t))
        chosen = np.searchsorted(reached, (np.asarray(words(source, 2)) + 0.5) / 2**32)
        W = W - 0.3 * descent.risk([samples[i] for i in chosen], TOY.E, W)[1]
        norms.append(float(np.linalg.norm(W)))
    np.testing.assert_allclose(run.norm[0], norms, atol=1e-13)
    loss, slope = descent.risk(ROWS, TOY.E, W)
    assert run.log_loss[0, -1] == pytest.approx(np.log(loss), rel=1e-12)
    assert run.log_gradient_norm[0, -1] == pytest.approx(np.log(np.linalg.norm(slope)), rel=1e-11)
    other = lm.train(TOY, algorithm="sgd", batch=2, seed=6, rate=0.3, steps=6)
    assert other.norm[0, -1] != run.norm[0, -1]


def test_adam_by_name_is_adam():
    named = lm.train(TOY, algorithm="adam", rate=0.02, steps=9)
    given = lm.train(TOY, algorithm=optax.adam(0.02), steps=9)
    assert named.norm[0, -1] == pytest.approx(given.norm[0, -1], rel=1e-12)
    assert "Adam on W: 9 steps of size 0.02" in named.rule


def test_factors_of_any_width_with_weight_decay():
    run = lm.train(TOY, algorithm="factored", width=2, decay=0.3, rate=0.05, steps=8, seed=1)
    keys, queries = 0.01 * np.random.default_rng(1).standard_normal((2, 1, 4, 2))[:, 0] / np.sqrt(2)
    for _ in range(8):
        slope = descent.risk(ROWS, TOY.E, keys @ queries.T)[1]
        down = slope @ queries + 0.3 * keys, slope.T @ keys + 0.3 * queries
        size = np.sqrt(sum(np.sum(part**2) for part in down))
        keys, queries = keys - 0.05 * down[0] / size, queries - 0.05 * down[1] / size
    W = keys @ queries.T
    assert run.norm[0, -1] == pytest.approx(np.linalg.norm(W), rel=1e-10)
    margins = [(TOY.E[a] - TOY.E[b]) @ W @ TOY.E[q] for q, (a, b) in TOY.strict_pairs]
    nuclear = np.linalg.svd(W, compute_uv=False).sum()
    shortfall = 1 - min(margins) * TOY.nuclear.norm / nuclear
    assert run.nuclear_shortfall[0, -1] == pytest.approx(shortfall, rel=1e-9)
    turn = 1 - descent.correlation(W, TOY.nuclear.weights)
    assert run.one_minus_nuclear_correlation[0, -1] == pytest.approx(turn, rel=1e-9)


def test_attention_elsewhere_than_on_the_label():
    run = lm.train(TOY, rate=0.2, steps=30, record=(30,))
    W, masses = run.model.weights(0), []
    for tokens, label in ROWS:
        attention = descent.softmax(TOY.E[list(tokens)] @ W @ TOY.E[tokens[-1]])
        masses.append(sum(a for a, t in zip(attention, tokens, strict=True) if t != label))
    assert run.log_missed[0, -1] == pytest.approx(np.log(np.mean(masses)), abs=1e-12)


def test_the_direction_outside_the_ties():
    run = lm.train(TOY, rate=0.2, steps=30, record=(30,))
    W = run.model.weights(0)
    tied = descent.tied_span([np.outer(TOY.E[0] - TOY.E[1], TOY.E[2]).ravel()])
    outside = W.ravel() - tied.T @ (tied @ W.ravel())
    wanted = 1 - descent.correlation(outside.reshape(W.shape), TOY.W_mm)
    assert outside_gap(run.evidence)[0, -1] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["ngd", "gd"])
def test_several_heads_step_by_step(algorithm):
    run = lm.train(
        TOY, algorithm=algorithm, heads=3, seed=4, rate=0.3, steps=40, record=(40,), predict="a b c"
    )
    start = np.random.default_rng(4).uniform(-1, 1, (3, 4, 4)) / 2
    wanted = descent.train_heads(ROWS, TOY.E, start, 0.3, 40, normalized=algorithm == "ngd")
    found = run.model.weights(0)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    loss, _ = descent.risk_of_heads(ROWS, TOY.E, wanted)
    np.testing.assert_allclose(run.log_loss[0, -1], np.log(loss), atol=1e-12)
    together = np.stack([TOY.W_mm] * 3)
    assert run.correlation[0, -1] == pytest.approx(descent.correlation(wanted, together))
    each = [1 - descent.correlation(W, TOY.W_mm) for W in wanted]
    assert run.worst_head[0, -1] == pytest.approx(max(each))
    asked = TOY.encode("a b c")
    mean = np.mean([descent.softmax(TOY.E[asked] @ W @ TOY.E[asked[-1]]) for W in wanted], axis=0)
    np.testing.assert_allclose(run.predictions[0][0].attention, mean, atol=1e-12)
    before = np.mean([descent.softmax(TOY.E[[0, 1, 2]] @ W @ TOY.E[2]) for W in start], axis=0)
    np.testing.assert_allclose(SETTING.looks(run, 0)[0].before, before, atol=1e-12)


def test_the_gradient_of_several_heads_by_differences():
    heads = np.random.default_rng(1).standard_normal((2, 4, 4))
    slope = descent.risk_of_heads(ROWS, TOY.E, heads)[1]
    move = np.random.default_rng(2).standard_normal(heads.shape) * 1e-6
    up, down = (descent.risk_of_heads(ROWS, TOY.E, heads + sign * move)[0] for sign in (1, -1))
    assert np.sum(slope * move) == pytest.approx((up - down) / 2, rel=1e-7)


def test_heads_that_are_saturated_still_move_together():
    """Masses of 1 - e^-1000: every head goes on along W^mm, and nothing rounds to zero."""
    acyclic = Dataset.from_sentences("acyclic", ["a b c a", "b c b"])
    run = lm.train(acyclic, heads=2, rate=1.0, steps=2000, record=(500, 2000))
    assert run.log_loss[0, -1] < -990
    assert run.norm[0, -1] == pytest.approx(2000, rel=0.001)
    assert run.worst_head[0, -1] == pytest.approx(run.worst_head[0, 0] / 16, rel=0.01)


def test_local_limits_of_what_is_selected():
    run = lm.train(TOY, loss="corr", rate=0.1, steps=300)
    (local,) = pseudo_limits([TOY], [run.model.weights(0)], Training(loss="linear"), "selected")
    expected = descent.correlation(run.model.weights(0), local.margin.weights)
    assert run.local_correlation[0, -1] == pytest.approx(expected, rel=1e-9)
    assert run.local_correlation[0, -1] > run.correlation[0, -1]
    assert "Section 6" in run.rule
    assert "local_correlation" not in lm.train(TOY, steps=3).names


@pytest.mark.parametrize("loss", SCORE_DERIVATIVES)
def test_derivatives_of_losses(loss):
    values = {
        "log": lambda u: -np.log(u),
        "squared": lambda u: (1 - u) ** 2,
        "linear": lambda u: -u,
        "exponential": lambda u: np.exp(-u),
        "flat": lambda u: np.arctan(u - 1) - (u - 1),
    }
    u, h, of = 0.6, 1e-4, values[loss]
    first, second = SCORE_DERIVATIVES[loss](u)
    assert first == pytest.approx((of(u + h) - of(u - h)) / (2 * h), abs=1e-7)
    assert second == pytest.approx((of(u + h) - 2 * of(u) + of(u - h)) / h**2, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "words_"),
    [
        ({"batch": 3}, "no effect with algorithm ngd; it is for sgd"),
        ({"algorithm": "gd", "width": 3}, "no effect with algorithm gd; it is for factored"),
        ({"algorithm": "adam", "decay": 0.1}, "no effect with algorithm adam"),
        ({"algorithm": "factored", "start": "zero"}, "no effect with algorithm factored"),
        (
            {"algorithm": "adam", "seed": 1},
            "no effect with algorithm adam; it is for factored, sgd",
        ),
        ({"algorithm": "factored", "width": 0}, "width of at least 1"),
        ({"algorithm": "sgd", "batch": 0}, "batch must be a number of at least 1"),
        ({"algorithm": "factored", "decay": -1.0}, "decay must be"),
        ({"algorithm": "adam", "heads": 2}, "no effect with algorithm adam; it is for ngd, gd"),
        ({"heads": 2, "start": "zero"}, "equal ones would stay equal"),
        ({"heads": 2, "loss": "squared"}, "on the log loss, identity head"),
        ({"heads": 2, "epsilon": 1e-9}, "no effect with several heads"),
        ({"heads": 0}, "at least one head"),
    ],
)
def test_options_without_effect(options, words_):
    with pytest.raises(InputError, match=words_):
        lm.train(TOY, steps=1, **options)


def reading(*sentences: str):
    return lm.analyze(Dataset.from_sentences("mine", sentences))


def told(*sentences: str) -> str:
    return "\n".join(str(getattr(part, "plain", "")) for part in reading(*sentences).describe())


def test_an_order_is_told_without_saying_more_than_is_known():
    def order(*sentences: str) -> str:
        analysis = reading(*sentences)
        return _order(analysis.queries[2], analysis.dataset.data.vocabulary)

    assert order("a b k a", "b k b", "c k c") == "a > b > k; c > k"
    assert order("a b k a", "b a k b", "a c k a", "c k c") == "{a 50%, b 50%} > c > k"
    assert order("a b k a", "c b k c") == "a, c > b, k"


def test_constraints_that_are_tight_and_idle(monkeypatch: pytest.MonkeyPatch):
    # W^mm is (b, a, k, c) = (-1, 1, -1, 1) / 2: a > k is tight, and no flow needs it
    found = reading("b a k a", "c k c").degeneracy
    assert found is not None
    assert found.idle == ((2, (1, 2)),)
    assert found.dependent == 0
    assert "1 has multiplier 0 in every certificate (a > k under k)" in told("b a k a", "c k c")
    plain = reading("a b k a", "b k b").degeneracy
    assert plain is not None
    assert (plain.idle, plain.dependent) == ((), 0)
    # all four edges between {a, c} and {b, k} are tight, and the fourth is a + c - b - k
    square = reading("a b k a", "c b k c").degeneracy
    assert square is not None
    assert (square.idle, square.dependent, len(square.tight)) == ((), 1, 4)
    assert "1 is a combination of the others" in told("a b k a", "c b k c")
    document = reading("b a k a", "c k c").document()
    assert document["max_margin"]["degeneracy"]["idle"] == [
        {"query": "k", "winner": "a", "loser": "k"}
    ]
    assert document["nuclear_margin"]["norm"] == pytest.approx(1)
    monkeypatch.setattr(_degeneracy, "MOST_PAIRS", 1)
    assert reading("b a k a", "c k c").degeneracy is None  # too many to examine


def test_samples_count_whether_or_not_their_label_can_be_reached():
    found = reading("a b k a", "a b k a", "b a k b", "a k b", "a k c", "c k a").queries[2]
    assert found.samples == 6
    assert (found.reachable, found.unreachable) == ((0, 1), (3,))


def test_how_a_limit_is_certified():
    chain = Dataset.from_sentences("chain", ["b a k a", "c k c"])
    leaning, equal = np.eye(4) + 0.1, np.ones((4, 1))
    datasets = {
        "exactly": (chain, Dataset.from_sentences("no choice", ["a a"])),
        "by a duality gap": (Dataset("leaning", chain.data, leaning),),
        "by constraints that contradict each other": (Dataset("equal", chain.data, equal),),
    }
    for words_, certified in datasets.items():
        for dataset in certified:
            assert lm.analyze(dataset).document()["max_margin"]["certified"] == words_
