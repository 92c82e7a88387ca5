"""What the mechanics setting offers to users: data, options, runs, optimizers, unknown words."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import optax
import pytest
from oracles import descent
from oracles.recorded import recorded

from lemmata._errors import InputError
from lemmata.papers.mechanics.setting import (
    CYCLIC,
    HYPOTHESES,
    SETTING,
    Dataset,
    Recipe,
    Training,
    generate,
)

TOY = {"a b c a": 3, "b a c b": 1, "x c a": 2}
RECORD = (0, 5, 30)


@pytest.fixture(scope="module")
def toy() -> Dataset:
    return Dataset.from_sentences("toy", TOY)


def rows_of(dataset: Dataset) -> list[tuple]:
    return [(s.tokens, s.label) for s in dataset.realizable.samples for _ in range(s.count)]


def test_sentences_are_texts_lists_or_counts(toy):
    lists = [["a", "b", "c", "a"]] * 3 + [["b", "a", "c", "b"]] + [["x", "c", "a"]] * 2
    texts = [" ".join(sentence) for sentence in lists]
    for sentences in (lists, texts):
        data = Dataset.from_sentences("same", sentences).data
        assert data.vocabulary == toy.data.vocabulary == ("a", "b", "c", "x")
        assert [(s.tokens, s.label, s.count) for s in data.samples] == [
            (s.tokens, s.label, s.count) for s in toy.data.samples
        ]
    assert toy.data.total == 6
    # Four samples hold a and b before c; three of them have the label a.
    assert toy.W_cyc[0, 2] - toy.W_cyc[1, 2] == pytest.approx(np.log(3))


@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        (["a"], "needs two tokens"),
        (["a b", ""], r"sentence 2 \(''\) needs two tokens"),
        ({"a b": 0}, "cannot occur 0 times"),
        ({"a b": 1.5}, r"cannot occur 1\.5 times"),
        ("a b", "a list of sentences"),
    ],
)
def test_sentences_that_say_nothing_are_refused(sentences: Any, words: str):
    with pytest.raises(InputError, match=words):
        Dataset.from_sentences("bad", sentences)


def written(folder: Path, dataset: Dataset) -> Dataset:
    path = folder / "data.json"
    path.write_text(json.dumps(dataset.document()))
    (found,) = SETTING.read(path)
    assert found.name == "data"
    return found


def same(first: Dataset, second: Dataset) -> None:
    """The same samples by name, and the same embedding for each name."""

    def named(dataset: Dataset) -> list[tuple]:
        name = dataset.data.name
        samples = dataset.data.samples
        return [(tuple(map(name, s.tokens)), name(s.label), s.count) for s in samples]

    assert named(first) == named(second)
    one = {first.data.name(i): first.E[i] for i in range(first.K)}
    two = {second.data.name(i): second.E[i] for i in range(second.K)}
    for name in two if first.embeddings is not None else ():
        np.testing.assert_array_equal(one[name], two[name])


def test_a_dataset_is_read_back_from_its_document(tmp_path):
    counted = Dataset.from_sentences("counted", TOY)
    for dataset in [*generate(CYCLIC, 2, 5), recorded("fig2_reconstruction").bare, counted]:
        found = written(tmp_path, dataset)
        same(dataset, found)
        assert dataset.data.samples[0].tokens == found.data.samples[0].tokens
        np.testing.assert_array_equal(dataset.W_mm, found.W_mm)
        if dataset.initial_weights is not None:
            np.testing.assert_array_equal(dataset.initial_weights, found.initial_weights)


def test_embeddings_and_weights_follow_tokens_into_the_document(tmp_path):
    generator = np.random.default_rng(0)
    data = Dataset.from_sentences("m", ["p q r q", "q r p p"]).data
    moved = Dataset("m", data, generator.standard_normal((3, 2)))
    order = [2, 0, 1]
    vocabulary = tuple(data.vocabulary[i] for i in order)
    place = {old: new for new, old in enumerate(order)}
    samples = tuple(
        type(s)(tuple(place[t] for t in s.tokens), place[s.label], s.count) for s in data.samples
    )
    start = generator.standard_normal((3, 3))
    shuffled = Dataset(
        "m", type(data)(vocabulary, samples), generator.standard_normal((3, 2)), np.eye(2)
    )
    same(shuffled, written(tmp_path, shuffled))
    same(moved, written(tmp_path, moved))
    bare = Dataset("m", type(data)(vocabulary, samples), None, start)
    found = written(tmp_path, bare)
    assert found.data.vocabulary == data.vocabulary
    for i, row in enumerate(data.vocabulary):
        for j, column in enumerate(data.vocabulary):
            old = vocabulary.index(row), vocabulary.index(column)
            assert found.initial_weights is not None
            assert found.initial_weights[i, j] == start[old]


def test_a_document_counts_and_refuses_samples_that_lost_their_query(toy):
    assert toy.document() == {
        "sequences": [["a", "b", "c"], ["b", "a", "c"], ["x", "c"]],
        "labels": ["a", "b", "a"],
        "counts": [3, 1, 2],
    }
    with pytest.raises(InputError, match="lost their last token"):
        Dataset("reduced", toy.cyclic).document()


def test_limits_as_arrays():
    case = recorded("fig2_reconstruction")
    for dataset in (case.dataset, case.bare):
        assert dataset is not None
        np.testing.assert_allclose(dataset.W_mm, case.facts["W_mm"], atol=1e-11)
        np.testing.assert_allclose(dataset.W_cyc, case.facts["W_cyc"], atol=1e-11)
    assert np.isnan(recorded("infeasible_d1").dataset.W_mm).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Training(algorithm="NGD"), "unknown algorithm 'NGD'.*ngd, gd, sgd, adam, block"),
        (lambda: Training(algorithm="adamw"), "optax"),
        (lambda: Training(algorithm="flow"), r"call lemmata\S+setting.flow\(dataset, records\)"),
        (lambda: Training(algorithm="path"), r"call lemmata\S+setting.path\(dataset, records\)"),
        (lambda: Training(loss="hinge"), "unknown loss 'hinge'.*log, squared, linear"),
        (lambda: Training(head="idenity"), "did you mean 'identity'"),
        (lambda: Training(rate="fast"), r"'paper' \(1/L\) or 'tight' \(1/L_tight\); got 'fast'"),
        (lambda: Training(record="linear"), "record 'log'"),
        (lambda: Training(algorithm="gd", epsilon=0.5), "ngd only"),
        (lambda: Training(algorithm=optax.adam(0.1), rate=0.1), "its own step size"),
        (lambda: Recipe(kind="acyclc"), "did you mean 'acyclic'.*acyclic, cyclic, any"),
        (lambda: Recipe(labels="foo"), "unknown choice of labels 'foo'.*uniform, priority"),
    ],
)
def test_unknown_words_are_refused_with_the_known_ones(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_the_usual_step_of_gradient_descent_is_the_tight_one_everywhere(toy):
    # Every sample has two distinct tokens or more: |e_a - e_b|^2 / 4 = 1/2 each.
    assert toy.lipschitz_tight == pytest.approx(0.5, rel=1e-15)
    run = Training(algorithm="gd", steps=1).run([toy])
    assert run.rate == pytest.approx([2.0], rel=1e-15)
    train = SETTING.train([toy], {"algorithm": "gd", "steps": 1})
    assert train.rate == pytest.approx(np.array([[2.0]]), rel=1e-15)
    assert SETTING.train([toy], {"steps": 1}).rate.tolist() == [[0.01]]
    assert "1/L with the tight" in train.rule


def test_a_run_has_every_column_as_an_attribute(toy):
    lost = Dataset.from_sentences("lost", ["a b c"])
    SETTING.check({"steps": 30, "record": RECORD, "predict": ("b a c",)})
    run = SETTING.train([toy, lost], {"steps": 30, "record": RECORD, "predict": ("b a c",)})
    assert run.steps.tolist() == list(RECORD)
    W = descent.train(rows_of(toy), toy.E, np.zeros((4, 4)), 0.01, 30, normalized=True)
    norms = [np.linalg.norm(W[t]) for t in RECORD]
    np.testing.assert_allclose(run.norm[0], norms, rtol=1e-12)
    expected = descent.correlation(W[30], toy.W_mm)
    assert run.correlation[0, -1] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose((run.correlation + run.one_minus_correlation)[0, 1:], 1, rtol=1e-14)
    for column in SETTING.columns:
        if column.name.startswith(("local_", "worst_head")) or "nuclear" in column.name:
            assert column.name not in run.names
            continue
        grid = run[column.name]
        assert grid.shape == (2, 3)
        assert np.isnan(grid[1]).all()
        assert np.isfinite(grid[0, 1:]).all()
    assert run.rate.shape == (2, 1)
    assert run.trained == (True, False)
    assert run.reasons[0] is None
    assert "no label occurs" in str(run.reasons[1])
    assert run.extras[0]["target"] == "W^mm"
    ((prediction,), ()) = run.predictions
    assert prediction.next == "a"
    attention = descent.softmax(toy.E[[1, 0, 2]] @ W[30] @ toy.E[2])
    np.testing.assert_allclose(prediction.attention, attention, rtol=1e-12)
    assert prediction.probability == pytest.approx(attention[1], rel=1e-12)
    with pytest.raises(AttributeError, match=r"unknown column 'nrm'; did you mean 'norm'\?"):
        _ = run.nrm


def test_nothing_but_data_that_cannot_be_trained():
    lost = Dataset.from_sentences("lost", ["a b c"])
    run = SETTING.train([lost], {"steps": 3})
    assert run.trained == (False,)
    assert run.norm.shape == (1, len(run.steps))
    assert np.isnan(run.norm).all()


@pytest.mark.parametrize("algorithm", ["flow", "path"])
def test_curves_are_runs(toy, algorithm):
    options = {"algorithm": algorithm, "steps": 20, "record": (0, 20), "predict": "b a c"}
    SETTING.check(options)
    run = SETTING.train([toy], options)
    assert run.norm.shape == (1, 2)
    assert "rate" not in run.names
    assert run.one_minus_correlation[0, -1] < 0.1
    ((prediction,),) = run.predictions
    assert prediction.probability == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "gd", "epsilon": 0.5}, "no effect with algorithm gd; it is for ngd"),
        ({"seed": 3}, "no effect with algorithm ngd; it is for factored"),
        ({"algorithm": "path", "rate": 0.1}, "no effect with algorithm path"),
        ({"algorithm": "block", "loss": "squared"}, "no effect with algorithm block"),
        ({"algorithm": "flow", "head": "embedding"}, "no effect with algorithm flow"),
        ({"algorithm": "NGD"}, "unknown algorithm 'NGD'"),
        ({"loss": "hinge"}, "unknown loss 'hinge'"),
        ({"stage1_steps": 3}, r"unknown option .*'stage1_steps'; it takes .*rate \(--lr\)"),
    ],
)
def test_options_without_effect_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        SETTING.check(options)


def test_options_as_typed():
    read = {option.name: option.read for option in SETTING.options}
    assert read["rate"]("0.5") == 0.5
    assert read["rate"]("tight") == "tight"
    assert read["record"]("1,100") == (1, 100)
    assert read["steps"]("20") == 20
    for name, text in {"rate": "fast", "steps": "2.5", "record": "1;2", "epsilon": "x"}.items():
        with pytest.raises(InputError, match=f"got '{text}'"):
            read[name](text)


def test_instances_are_drawn_of_both_kinds_from_the_seed_alone():
    drawn = SETTING.draw(4, 7)
    assert [dataset.acyclic for dataset in drawn] == [True, False, True, False]
    again = SETTING.draw(2, 7)
    for first, second in zip(drawn, again, strict=False):
        assert first.name == second.name
        np.testing.assert_array_equal(first.E, second.E)
    assert not np.array_equal(drawn[0].E, SETTING.draw(1, 8)[0].E)
    assert len({dataset.name for dataset in drawn}) == 4
    for dataset in drawn:
        broken = {h.name for h in HYPOTHESES if h.broken(dataset.problems)}
        assert broken <= {"acyclic", "nonzero", "orthonormal"}


def test_hypotheses_have_names_that_users_type():
    assert {h.name for h in SETTING.hypotheses} >= {"realizable", "acyclic", "feasible"}
    with pytest.raises(InputError, match=r"unknown hypothesis .*'realisable'; did you mean"):
        SETTING.hypothesis("realisable")


def adam(dataset: Dataset, rate: float, steps: int) -> np.ndarray:
    """Kingma and Ba's Algorithm 1, with its usual constants."""
    W = np.zeros_like(dataset.W_mm)
    first, second = np.zeros_like(W), np.zeros_like(W)
    for t in range(1, steps + 1):
        gradient = descent.risk(rows_of(dataset), dataset.E, W)[1]
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        W = W - rate * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    return W


def test_any_optimizer_of_optax_trains_with_all_measurements(toy):
    run = Training(algorithm=optax.adam(1e-2), steps=30, record=RECORD).run([toy])
    np.testing.assert_allclose(run.weights(0), adam(toy, 1e-2, 30), rtol=1e-9, atol=1e-12)
    assert run.weights(0).dtype == np.float64
    ours = Training(steps=3).run([toy]).recording.series
    assert set(run.recording.series) == set(ours)
    inside = adam(toy, 1e-2, 5)[:2, 2]
    distance = np.linalg.norm(inside - inside.mean() - toy.W_cyc[:2, 2])
    assert run["cyclic_distance"][0, 1] == pytest.approx(distance, rel=1e-9)
    plain = Training(algorithm="gd", rate=0.25, steps=30, record=RECORD).run([toy])
    sgd = Training(algorithm=optax.sgd(0.25), steps=30, record=RECORD).run([toy])
    for name, rows in plain.recording.series.items():
        np.testing.assert_allclose(sgd[name], rows, rtol=1e-10, atol=1e-13, err_msg=name)
    setting = SETTING.train([toy], {"algorithm": optax.sgd(0.25), "steps": 30, "record": RECORD})
    np.testing.assert_array_equal(setting.norm, sgd["norm"])
    assert "an optax optimizer on W: 30 steps" in setting.rule


def test_predictions_go_through_the_head(toy):
    run = Training(steps=40).run([toy])
    tokens = [1, 0, 2]
    attention = descent.softmax(toy.E[tokens] @ run.weights(0) @ toy.E[2])
    expected = [attention[1], attention[0], attention[2], 0]
    np.testing.assert_allclose(run.predict(0, tokens), expected, rtol=1e-12)
    np.testing.assert_allclose(run.predict(0, "b a c"), expected, rtol=1e-12)
    head = np.random.default_rng(0).standard_normal((4, 4))
    run = Training(steps=5, loss="cross-entropy", head=head).run([toy])
    attention = descent.softmax(toy.E[tokens] @ run.weights(0) @ toy.E[2])
    chances = descent.softmax(head[:, tokens] @ attention)
    np.testing.assert_allclose(run.predict(0, tokens), chances, rtol=1e-12)
    with pytest.raises(InputError, match="unknown token 'z'"):
        run.predict(0, "a z")


def test_forecasts_are_of_one_head_and_a_loss_whose_limit_is_global():
    """a > b > c under c: W^mm is (1, 0, -1) with the norm sqrt(2)."""
    chain = Dataset.from_sentences("chain", ["a b c a", "b c b"])
    steps, trained = np.array([0, 12, 16]), {"steps": 16, "record": (0, 12, 16)}

    def said(**options: Any) -> tuple[Any, dict[str, np.ndarray]]:
        run = SETTING.train([chain], trained | options)
        return run, {found.column: found.values for found in SETTING.forecasts(run, 0)}

    run, found = said(algorithm="ngd")
    assert set(found) == {"correlation", "one_minus_correlation"}
    np.testing.assert_array_equal(found["correlation"], 1.0)
    last = run.evidence.one_minus_correlation[0, -1]
    expected = [np.nan, last * (16 / 12) ** 2, last]
    np.testing.assert_allclose(found["one_minus_correlation"], expected, rtol=1e-12)
    run, found = said(algorithm="gd", rate=8.0)
    grown = run.evidence.norm[0, -1] + np.sqrt(2) * np.log(steps[1:] / 16)
    assert (grown > 0).all()
    np.testing.assert_allclose(found["norm"], [np.nan, *grown], rtol=1e-12)
    for algorithm in ("gd", "flow"):
        run = SETTING.train([chain], {"algorithm": algorithm, "steps": 0})
        assert np.isnan(SETTING.forecasts(run, 0)[-1].values).all()  # quietly
    assert set(said(algorithm="factored")[1]) == {"correlation"}
    for local in ({"heads": 2}, {"loss": "squared", "head": "embedding"}):
        assert said(algorithm="gd", **local)[1] == {}
