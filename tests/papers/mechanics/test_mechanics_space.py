"""The space of datasets, and descent again in ball arithmetic."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx

import lemmata as lm
from lemmata.attention import FLAT, LINEAR, own_loss
from lemmata.papers.mechanics.setting import SETTING, Dataset
from lemmata.search import read_back

SPACE = SETTING.space
SENTENCES = {"a b c a": 3, "b a b": 1, "c b c": 2, "a b c b": 1}


def dataset(kind: str) -> Dataset:
    plain = Dataset.from_sentences("d", SENTENCES)
    draw = np.random.default_rng(1)
    if kind == "orthonormal":
        return plain
    E = draw.standard_normal((plain.K, 4))
    E *= 0.8 / np.linalg.norm(E, axis=1, keepdims=True)
    W = draw.standard_normal((4, 4)) if kind == "start" else None
    return replace(plain, embeddings=E, initial_weights=W)


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 1_000
    yield
    ctx.prec = old


@pytest.mark.parametrize("kind", ["orthonormal", "start"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"algorithm": "gd"},
        {"algorithm": "gd", "rate": 3.0},
        {"algorithm": "adam"},
        {"epsilon": 0.1},
        {"loss": "squared"},
        {"loss": "squared", "head": "embedding"},
        {"loss": "cross-entropy", "head": "embedding"},
        {"loss": "softmax-squared", "head": "embedding"},
        {"loss": LINEAR, "algorithm": "gd", "rate": 1.0},
        {"loss": FLAT},
    ],
)
def test_training_agrees_with_balls(kind: str, options: dict) -> None:
    instance, steps = dataset(kind), np.array([0, 1, 7, 100])
    run = lm.train([instance], record=tuple(steps.tolist()), steps=100, **options)
    columns = SPACE.replay(instance, options, steps)
    assert columns is not None
    assert set(columns) == {c for c in run.evidence.columns if not c.startswith("local_")}
    bounded = ("correlation", "one_minus_correlation", "descent_on_target")
    for name, balls in columns.items():
        middle = np.array([float(ball.mid()) for ball in balls])
        values = np.asarray(getattr(run, name))[0]
        # at W = 0 there is no direction, and 1 - cos is written without cancellation
        known = np.isfinite(middle) & np.isfinite(values)
        assert known[1:].all() or name == "rate"
        np.testing.assert_allclose(values[known], middle[known], rtol=3e-9, atol=1e-12)
        # what is compared with W^mm is as wide as its certificate allows
        widest = 1e-7 if kind != "orthonormal" and name in bounded else 1e-60
        assert all(float(b.rad()) < widest for b, ok in zip(balls, known, strict=True) if ok)


def test_a_given_head_in_balls() -> None:
    head = np.array([[1.0, 0.25, 0.0], [0.5, 1.0, 0.125], [0.0, 0.25, 0.5]])
    options = {"loss": "log", "head": head}
    run = lm.train([dataset("orthonormal")], steps=50, record=(0, 50), **options)
    columns = SPACE.replay(dataset("orthonormal"), options, np.array([0, 50]))
    assert columns is not None
    for name in ("log_loss", "norm", "cyclic_distance"):
        middle = [float(ball.mid()) for ball in columns[name]]
        np.testing.assert_allclose(np.asarray(getattr(run, name))[0], middle, rtol=1e-10)


def test_the_ball_around_the_finite_limit_holds_its_closed_form() -> None:
    """a wins three times and b once: their logits differ by log 3."""
    tie = Dataset.from_sentences("tie", {"a b a": 3, "a b b": 1})
    distance = SPACE.replay(tie, {}, np.array([0]))["cyclic_distance"][0]
    assert distance.overlaps(arb(3).log() / arb(2).sqrt())
    assert float(distance.rad()) < 1e-250


def test_balls_know_what_they_do_not_cover() -> None:
    steps = np.array([0, 3])
    own = own_loss("mine", lambda u: -u)
    for options in ({"loss": own}, {"algorithm": "flow"}, {"algorithm": "block"}):
        assert SPACE.replay(dataset("orthonormal"), options, steps) is None
    flat = replace(dataset("orthonormal"), embeddings=np.array([[1.0, 0], [0, 1.0], [1.0, 1.0]]))
    columns = SPACE.replay(flat, {}, steps)
    assert columns is not None
    assert "cyclic_distance" not in columns


def test_a_zero_gradient_moves_nothing() -> None:
    tie = Dataset.from_sentences("tie", ["a b a", "a b b"])
    columns = SPACE.replay(tie, {}, np.array([0, 5]))
    assert columns is not None
    assert columns["norm"][1] == arb(0)


def test_extremes_are_data_that_can_be_read_back() -> None:
    extremes = list(SPACE.extremes())
    assert len(extremes) > 500
    lengths = [np.linalg.norm(instance.E, axis=1) for instance in extremes]
    assert min(map(max, lengths)) < 1e-2
    assert max(map(min, lengths)) > 1e2
    for instance in extremes[::37]:
        again = read_back(SETTING, instance)
        for name in ("tokens", "label", "count"):
            rows = ([getattr(s, name) for s in d.data.samples] for d in (again, instance))
            assert next(rows) == next(rows)
        if not instance.orthonormal:
            np.testing.assert_array_equal(again.E, instance.E)


def test_simpler_is_smaller_or_as_small() -> None:
    generator = np.random.default_rng(0)
    drawn = [SPACE.draw(generator) for _ in range(20)]
    dressed = [SPACE._dress(instance, generator) for instance in drawn]
    embedded = [d for d in dressed if not np.array_equal(d.E, np.eye(d.K))]
    assert 0 < sum(d.initial_weights is not None for d in embedded) < len(embedded)
    for instance in drawn:
        sizes = [SPACE.size(simpler) for simpler in SPACE.simpler(instance)]
        assert all(size <= SPACE.size(instance) for size in sizes)
        SPACE.vary(instance, generator).document()


def test_what_does_not_matter_keeps_the_samples() -> None:
    tie = Dataset.from_sentences("tie", ["a b a", "a b b"])
    names = [name for name, _ in SPACE.changes(tie)]
    assert names.count("how often each sample occurs") == 3  # in three ways
    assert len(set(names)) == 3
    assert SPACE.degenerate(tie) is None
    assert SPACE.degenerate(Dataset.from_sentences("idle", ["a a a"])) is not None
