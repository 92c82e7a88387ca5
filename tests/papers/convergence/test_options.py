"""Starts of one's own, shares of samples, separate factors, several heads, and the outlook."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from lemmata._errors import InputError
from lemmata.papers.convergence.setting import SETTING, Dataset, Factored, TwoStage, example_1
from lemmata.papers.convergence.setting._outlook import Outlook
from lemmata.papers.convergence.setting._pictures import _heat
from lemmata.papers.mechanics.setting import SETTING as MECHANICS

SAMPLES = {
    "sequences": [["a"], ["a", "b"], ["b"], ["b", "a", "a"]],
    "labels": ["b", "a", "a", "b"],
}
START = [[1.0, -0.5], [0.25, 0.5]]


def read(folder: Path, **more) -> Dataset:
    file = folder / "data.json"
    file.write_text(json.dumps(SAMPLES | more))
    return SETTING.read(file)[0]


def test_frequencies_are_counts_where_both_can_be_said(tmp_path: Path):
    shares = read(tmp_path, frequencies=[0.1, 0.2, 0.3, 0.4])
    counts = read(tmp_path, counts=[1, 2, 3, 4])
    np.testing.assert_allclose(shares.log_pi, counts.log_pi, rtol=1e-14)
    for wrong in ([0.1, 0.2, 0.3, 0], [0.1], "x"):
        with pytest.raises(InputError, match="one positive number a sequence"):
            read(tmp_path, frequencies=wrong)
    with pytest.raises(InputError, match='"counts" or "frequencies", not both'):
        read(tmp_path, counts=[1, 1, 1, 1], frequencies=[1, 1, 1, 1])


def plain_stage_1(dataset: Dataset, start: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Stage 1 as Algorithm 1 writes it: W_ov with one row a next token."""
    W = start.copy()
    for _ in range(steps):
        gradient = softmax(W, axis=0)
        for x, after in dataset.collocation.following.items():
            gradient[after, x] -= 1
        W -= rate * gradient / np.linalg.norm(gradient)
    return W


def test_stage_1_starts_where_it_is_told(tmp_path: Path):
    dataset = read(tmp_path, initial_values=START)
    assert dataset.document()["initial_values"] == START
    assert dataset.broken("initial_values_not_zero")
    options = {"stage1_steps": 7, "stage1_rate": 0.3, "steps": 3}
    run = SETTING.train([dataset], options)
    expected = plain_stage_1(dataset, np.array(START), 0.3, 7)
    np.testing.assert_allclose(run.model.value_logits(0).T, expected, rtol=1e-12)
    matrix = tmp_path / "start.json"
    matrix.write_text(json.dumps(START))
    same = SETTING.train([read(tmp_path)], {**options, "stage1_start": str(matrix)})
    np.testing.assert_array_equal(same.log_loss, run.log_loss)
    assert same.instances[0].broken("initial_values_not_zero")


def test_a_start_that_cannot_be_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"expected \(2, 2\), one row a next token"):
        read(tmp_path, initial_values=[[1.0, 2.0]])
    with pytest.raises(InputError, match="starts from zero"):
        SETTING.train([read(tmp_path, initial_values=START)], {"algorithm": "joint"})
    with pytest.raises(InputError, match="leave out initial_weights, initial_values"):
        SETTING.train([read(tmp_path, initial_values=START)], {"algorithm": "factored"})
    with pytest.raises(InputError, match="has no effect with algorithm ngd"):
        SETTING.train([read(tmp_path)], {"heads": 2})
    read(tmp_path, initial_values=START)
    with pytest.raises(InputError, match='has no "initial_values"'):
        MECHANICS.read(tmp_path / "data.json")


def naive_logits(factors: list, tokens: tuple[int, ...], E: np.ndarray) -> np.ndarray:
    """Section 3 as it stands, head by head; complex numbers pass through."""
    X, query, total = E[list(tokens)].T, E[tokens[-1]], 0
    for W_o, W_v, W_k, W_q in factors:
        powers = np.exp(X.T @ W_k @ W_q @ query)
        total = total + W_o @ W_v @ X @ (powers / powers.sum())
    return np.asarray(total)


def naive_loss(factors: list, samples: list, E: np.ndarray) -> complex:
    logits = [(naive_logits(factors, tokens, E), y, share) for tokens, y, share in samples]
    return sum(share * (np.log(np.exp(z).sum()) - z[y]) for z, y, share in logits)


def naive_step(factors: list, moved: tuple[int, int], samples: list, E, rate: float) -> list:
    """One normalized step on two matrices of every head, by complex-step derivatives."""
    slopes = [[np.zeros_like(W) for W in head] for head in factors]
    for h, head in enumerate(factors):
        for i in moved:
            for place in np.ndindex(head[i].shape):
                nudged = [[W.astype(complex) for W in each] for each in factors]
                nudged[h][i][place] += 1e-30j
                slopes[h][i][place] = naive_loss(nudged, samples, E).imag / 1e-30
    size = np.sqrt(sum(np.sum(slope**2) for head in slopes for slope in head))
    return [
        [W - rate * slope / size for W, slope in zip(head, down, strict=True)]
        for head, down in zip(factors, slopes, strict=True)
    ]


def naive_training(dataset: Dataset, heads: list, E: np.ndarray, steps, rates) -> list:
    """Both stages, on W_o and W_v and then on W_k and W_q."""
    singles = [((x,), y, 1.0) for x, y in dataset.collocation.following.items()]
    shares = zip(dataset.data.samples, dataset.frequencies, strict=True)
    whole = [(sample.tokens, sample.label, pi) for sample, pi in shares]
    for _ in range(steps[0]):
        heads = naive_step(heads, (0, 1), singles, E, rates[0])
    for _ in range(steps[1]):
        heads = naive_step(heads, (2, 3), whole, E, rates[1])
    return heads


def test_factors_move_as_section_3_says():
    rows = np.array([[1.0, 0.0, 0.2], [0.6, 0.8, 0.0]])
    dataset = Dataset.from_samples(
        "x", [[0], [1], [0, 1], [1, 0, 0]], [1, 0, 0, 1], [3, 2, 2, 1], embeddings=rows
    )
    plan = TwoStage(stage1_steps=4, stage1_rate=0.3, steps=5, rate=0.2, record="log")
    run = Factored(plan, heads=2, width=2, start=0.5, seed=3).run([dataset])
    D, K = 3, 2
    first, second = (
        0.5 * np.random.default_rng([3, value]).standard_normal((2, D + other, 2))
        for value, other in ((True, K), (False, D))
    )
    heads = [[v[D:], v[:D].T, a[:D], a[D:].T] for v, a in zip(first, second, strict=True)]
    heads = naive_training(dataset, heads, rows, (4, 5), (0.3, 0.2))
    for tokens in ([0, 1], [1, 0, 0]):
        expected = softmax(naive_logits(heads, tuple(tokens), rows))
        np.testing.assert_allclose(run.predict(0, tokens), expected, rtol=1e-10)
    products = np.array([W_k @ W_q for _, _, W_k, W_q in heads])
    assert run.stage2.series["norm"][0, -1] == pytest.approx(np.linalg.norm(products), rel=1e-10)


def test_joint_training_answers_and_a_tie_is_no_prediction():
    options = {"algorithm": "joint", "steps": 30, "predict": ("S P", "S")}
    run = SETTING.train([example_1()], options)
    values, weights = run.model.value_logits(0), run.model.key_query(0)
    expected = softmax(softmax(weights[[0, 3], 3]) @ values[[0, 3]])
    answer = run.predictions[0][0]
    assert answer.probability == pytest.approx(expected.max(), rel=1e-12)
    assert answer.next == "SVOP"[int(expected.argmax())]
    tie = SETTING.train([example_1()], {"steps": 9, "predict": "S V P"}).predictions[0][0]
    assert tie.next is None
    assert tie.tied == ("V", "O")
    assert str(tie).startswith("S V P -> no prediction: V and O tie")


DEGENERATE = {
    "zero": ([["o1", "n1", "q"], ["o2", "q"]], ["o2", "n1"], "log(t)^2/t^2"),
    "dependent": ([["o1", "n1", "q"], ["o2", "n1", "q"]], ["o2", "n1"], "training picks"),
    "slack": ([["a", "b", "q"], ["b", "q"], ["a", "q"]], ["b", "q", "b"], "1/t^2"),
}


def degenerate(kind: str) -> Dataset:
    """One query whose constraints are of this kind, and the pairs that make the collocation."""
    sequences, labels, _ = DEGENERATE[kind]
    words = ["a", "b", "q"] if kind == "slack" else ["o1", "o2", "n1", "q"]
    pairs = [[word] for word in words]
    return Dataset.from_samples(kind, [*pairs, *sequences], [*words[1:], words[0], *labels])


@pytest.mark.parametrize("kind", DEGENERATE)
def test_the_outlook_tells_constraints_apart(kind: str):
    document = SETTING.analyze(degenerate(kind)).document()["degeneracy"]
    found = {
        "zero": [("o1", "q")],
        "dependent": [("o1", "n1"), ("o1", "q"), ("o2", "n1"), ("o2", "q")],
        "slack": [("a", "q")],
    }
    keys = {
        "zero": "zero_multipliers",
        "dependent": "dependent_multipliers",
        "slack": "slack",
    }
    for each, key in keys.items():
        edges = [(entry["winner"], entry["loser"]) for entry in document[key]]
        assert edges == (found[each] if each == kind else [])
    assert DEGENERATE[kind][2] in document["rate"]


def test_a_tight_constraint_without_a_multiplier_costs_a_logarithm():
    """The gap of that constraint grows by 2 log t: ‖W‖² (1 − cos) goes like log(t)²/2."""
    options = {"steps": 6_000, "rate": 0.2, "record": (1_000, 6_000)}
    run = SETTING.train([degenerate("zero")], options)
    rest = np.sqrt(run.norm[0] ** 2 * run.one_minus_correlation[0])
    assert np.diff(rest)[0] / np.log(6) == pytest.approx(np.sqrt(0.5), rel=0.02)


def test_the_outlook_of_example_1():
    document = SETTING.analyze(example_1()).document()
    assert [entry["pi"] for entry in document["frequencies"]] == pytest.approx([1 / 9] * 9)
    outlook = document["outlook"]
    assert outlook["lemma_7_t0"] == np.ceil(8 * 4 * (13 / 6) / 0.025)
    floor = np.log1p(3 * np.exp(-900 * 0.1 / np.sqrt(3)))
    assert outlook["log_loss_floor"] == pytest.approx(np.log(floor), rel=1e-12)
    assert outlook["log_stage1_loss"] == pytest.approx(np.log(4 * floor), rel=1e-12)
    t = outlook["theorem_1_from"]
    bound = [54 * 9 * 4**4 * (13 / 6) ** 2 * np.log(s) ** 2 / (s * 0.025) for s in (t, 0.99 * t)]
    assert bound[0] < 1 < bound[1]
    assert outlook["c_infinity"] == pytest.approx(0.250628, rel=1e-5)
    unfit = SETTING.analyze(Dataset.from_sentences("x", ["ac", "bc", "ca"])).document()["outlook"]
    assert unfit["c_infinity"] is unfit["log_stage1_loss"] is unfit["lemma_7_t0"] is None


@pytest.mark.parametrize("pairs", [40, 43])
def test_a_long_table_of_inputs_ends_with_how_many_more_there_are(pairs: int):
    words = [[i] for i in range(pairs)]
    around = Dataset.from_samples("around", words, [*range(1, pairs), 0])
    last = list(Outlook(around)._shares().columns[0].cells)[40:]
    assert last == (["and 3 more"] if pairs == 43 else [])


def test_the_limit_is_shown_in_the_logits_of_tokens():
    """e_i'W*e_q for every token and query that ends an input, by its sums."""
    E = np.random.default_rng(0).standard_normal((3, 4))
    dataset = replace(Dataset.from_sentences("d", ["abca", "bc", "ca"]), embeddings=E)
    W = dataset.attention_margin.weights
    assert W is not None
    logits = np.array([[x @ W @ y for y in E] for x in E])
    heat = _heat(dataset, ("a", "b", "c"), [logits])
    assert heat.goal == pytest.approx(logits / np.sqrt((logits**2).sum()))
