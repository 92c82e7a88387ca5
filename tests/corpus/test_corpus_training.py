"""Training on a corpus: the gradient by differences, the limits by mechanics, scores by hand."""

from pathlib import Path

import numpy as np
import pytest
from oracles import corpora

import lemmata as lm
from lemmata._errors import InputError
from lemmata.corpus import Corpus, Reading, build
from lemmata.corpus._entries import Batch, Cells, reachable
from lemmata.corpus._training import _induction, _Kept

WORDS = corpora.zipfian(1_500, 25, 5)
WINDOW = 6


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    path = tmp_path_factory.mktemp("training") / "text.txt"
    path.write_text(" ".join(WORDS))
    reading = Reading(window=WINDOW, held_out=0.2)
    return Corpus(build(path, path.parent / "store", reading, workers=1))


def loss(weights: dict[tuple[str, str], float]) -> float:
    """The mean of -log of the mass on the label, sample by sample."""
    losses = []
    for words, label in corpora.samples([WORDS[:1_200]], WINDOW):
        if label in words:
            power = np.exp([weights[word, words[-1]] for word in words])
            mass = sum(p for p, word in zip(power, words, strict=True) if word == label)
            losses.append(-np.log(mass / power.sum()))
    return float(np.mean(losses))


def test_loss_and_gradient(corpus: Corpus) -> None:
    cells = Cells.of(corpus)
    kept = _Kept(corpus, cells, reachable(corpus))
    draw = np.random.default_rng(0)
    weights = draw.normal(size=len(cells.key))
    names = [(corpus.names[k % cells.size], corpus.names[k // cells.size]) for k in cells.key]
    named = dict(zip(names, weights.tolist(), strict=True))
    value, gradient = kept.evaluate(weights, None)
    assert value == pytest.approx(loss(named), rel=1e-12)
    for i in draw.choice(len(weights), 6, replace=False):
        up, down = dict(named), dict(named)
        up[names[i]] += 1e-5
        down[names[i]] -= 1e-5
        assert gradient[i] == pytest.approx((loss(up) - loss(down)) / 2e-5, abs=1e-9)


def test_training_reaches_both_limits(corpus: Corpus) -> None:
    run = lm.train(corpus, algorithm="adam", rate=0.1, steps=400, record=(1, 20, 400))
    assert list(run.steps) == [1, 20, 400]
    assert run.loss[-1] < run.loss[0]
    assert run.cyclic_distance[-1] < 0.01 * run.cyclic_distance[0]
    assert run.agreement[-1] > 0.9
    assert run.one_minus_correlation[-1] == pytest.approx(1 - run.correlation[-1], abs=1e-12)


def test_normalized_descent_moves_by_its_step(corpus: Corpus) -> None:
    run = lm.train(corpus, algorithm="ngd", rate=0.5, steps=1)
    assert run.norm[-1] == pytest.approx(0.5)


def test_batches_follow_the_seed(corpus: Corpus) -> None:
    runs = [lm.train(corpus, batch=32, steps=5, seed=seed).loss[-1] for seed in (0, 0, 1)]
    assert runs[0] == runs[1] != runs[2]


def test_scores_are_those_of_prediction_by_prediction(corpus: Corpus) -> None:
    run = lm.train(corpus, steps=30, rate=0.1)
    scores = run.scores
    assert scores is not None
    limit = bigram = induction = reached = 0
    first = len(WORDS) - int(0.2 * len(WORDS))
    after: dict[str, dict[str, int]] = {}
    for words, label in corpora.samples([WORDS[:first]], WINDOW):
        after.setdefault(words[-1], {}).setdefault(label, 0)
        after[words[-1]][label] += 1
    best = {
        query: min(found, key=lambda label: (-found[label], corpus.numbered[label]))
        for query, found in after.items()
    }
    held = list(range(first - 1, len(WORDS) - 1))
    for i in held:
        words, label = WORDS[max(0, i - WINDOW + 1) : i + 1], WORDS[i + 1]
        reached += label in words
        selected = corpus.choose(words).selected
        top = max(selected.values())
        chosen = min((w for w in selected if selected[w] > top - 1e-12), key=corpus.numbered.get)
        limit += chosen == label
        bigram += best.get(words[-1]) == label
        earlier = [j for j in range(len(words) - 1) if words[j] == words[-1]]
        guess = words[earlier[-1] + 1] if earlier else best.get(words[-1])
        induction += guess == label
    assert (scores.samples, scores.reached) == (len(held), reached)
    assert (scores.bigram, scores.induction) == (bigram, induction)
    assert scores.limit == pytest.approx(limit, abs=1)  # equal shares may round apart


def test_induction_at_the_edges() -> None:
    window = np.array([[5, 5, 5], [1, 2, 3], [4, 7, 4], [-1, -1, 2]])
    np.testing.assert_array_equal(_induction(window, np.arange(10) + 100), [5, 103, 7, 102])


def test_unseen_tokens_have_weight_zero(corpus: Corpus) -> None:
    cells = Cells.of(corpus)
    batch = Batch.of(corpus.windows.at(np.arange(100, 140)), cells)
    score = batch.slots(np.full(len(cells.key), -5.0))
    unseen = batch.cell < 0
    assert np.all(score[unseen] == batch.log_times[unseen])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"algorithm": "sgd"}, "unknown algorithm 'sgd'"),
        ({"rate": 0.0}, "--lr takes a positive number"),
        ({"steps": 0}, "--steps is at least 1"),
        ({"record": (99,), "steps": 5}, "--record takes steps from 0 to 5"),
        ({"speed": 3}, "unknown option of a corpus 'speed'"),
        ({"out": "x"}, "no out"),
    ],
)
def test_options_that_cannot_be(corpus: Corpus, options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        lm.train(corpus, **options)


def test_a_store_by_its_path(corpus: Corpus) -> None:
    again = lm.analyze(corpus.folder)
    assert again.samples == corpus.samples
    with pytest.raises(InputError, match="has been read already"):
        lm.analyze(corpus.folder, window=3)
    with pytest.raises(InputError, match="no setting"):
        lm.analyze(corpus.folder, "mechanics")
    assert Path(corpus.folder).name in repr(again)
    for shown in (again, again["w0"], lm.train(again, steps=1)):
        assert shown._repr_html_().startswith("<table")
