"""Moves in the space of datasets, one by one; what a page shows of made-up runs; borders."""

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from oracles.ends import Ends

from lemmata._errors import InputError
from lemmata.papers.mechanics.setting import SETTING, Dataset, Recipe
from lemmata.papers.mechanics.setting import _degeneracy as degenerating
from lemmata.papers.mechanics.setting import _document as documents
from lemmata.papers.mechanics.setting import _hypotheses as hypotheses
from lemmata.papers.mechanics.setting import _problems as problems
from lemmata.papers.mechanics.setting import _reading as readings
from lemmata.papers.mechanics.setting import _space as space
from lemmata.papers.mechanics.setting import _wording as wordings
from lemmata.papers.mechanics.setting._generators import equicorrelated
from lemmata.papers.mechanics.setting._making import make
from lemmata.papers.mechanics.setting._options import check_seed, request_of
from lemmata.papers.mechanics.setting._paths import flow, follow, path
from lemmata.papers.mechanics.setting._reading import Reading
from lemmata.settings import Attention, Evidence, Heat, Run
from lemmata.tokens import Instance

SPACE = SETTING.space
PAIR = ("a b -> a", "b a -> b")


def dataset(*lines: str, skew: int = 1, **arrays: Any) -> Dataset:
    """Samples such as ``a b -> a``; every second one occurs so many times."""
    rows = [line.split(" -> ") for line in lines]
    plain = Dataset.from_samples("d", [row[0].split() for row in rows], [row[1] for row in rows])
    samples = [replace(s, count=skew if i % 2 else 1) for i, s in enumerate(plain.data.samples)]
    return replace(plain, data=replace(plain.data, samples=tuple(samples)), **arrays)


def rows_of(one: Dataset) -> list[tuple[str, Any, int]]:
    words = one.data.vocabulary
    return [
        (" ".join(str(words[t]) for t in s.tokens), words[s.label], s.count)
        for s in one.data.samples
    ]


def test_lines_are_samples() -> None:
    data = space._parse(("a b c -> a", "b c -> b", "c a b -> b"), 7)
    one = Dataset("d", data)
    assert rows_of(one) == [("a b c", "a", 1), ("b c", "b", 7), ("c a b", "b", 1)]
    assert [s.source for s in data.samples] == ["sample 1", "sample 2", "sample 3"]
    contests = Dataset("d", space._samples([((0, 3, 1), 3), ((2, 0), 2)]))
    assert rows_of(contests) == [("a d b", "d", 1), ("c a", "c", 1)]
    assert [s.source for s in contests.data.samples] == ["sample 1", "sample 2"]


BASES = (
    ("a b -> a", "b a -> b"),
    ("a b c -> a", "a b c -> b", "a b -> a"),
    ("a b -> a",),
    ("a b -> a", "b b a -> a"),
    ("a b -> a", "a b -> b"),
    ("a b c -> a", "a b c -> b", "b c -> b"),
    ("a b c -> a", "b c -> b", "c a b -> b"),
    ("a a b c -> c", "c b -> c", "b c a -> a"),
)
GEOMETRIES = ("stretched", "orthonormal", "rotated", "general", "close", "dependent", "uneven")


def test_extremes_are_all_combinations() -> None:
    """Plain loops; embeddings that are not drawn are known, and then W(0) is, too."""
    combined = [(base, geometry, 1, 1.0, 0.0) for base, geometry in product(BASES, GEOMETRIES)]
    skews = (1, -0.1, 1_000, 10**12, -50.0, -10_000.0)
    for base, geometry, skew in product(BASES, GEOMETRIES, skews):
        combined += [(base, geometry, skew, 1.0, 0.0)] if skew != 1 else []
        if geometry != "orthonormal":
            combined += [(base, geometry, skew, s, 0.0) for s in (1e-4, 0.1, 10.0, 1e4)]
        combined += [(base, geometry, skew, 1.0, start) for start in (0.01, 1.0, 30.0, 1e3)]
    found = list(SPACE.extremes())
    assert len(found) == len(combined) + 21
    counts = {
        (lines, skew): rows_of(dataset(*lines, skew=skew))
        for lines in BASES
        for skew in (1, 1_000, 10**12)
    }
    units = {"close": lambda K: np.ones((K, K)) + 0.1 * np.eye(K), "orthonormal": np.eye}
    units["stretched"] = lambda K: np.diag([1.0, 2.0, 0.5][:K])
    for number, (one, (base, geometry, skew, scale, start)) in enumerate(
        zip(found[: len(combined)], combined, strict=True)
    ):
        assert one.name == f"extreme {number}"
        assert rows_of(one) == counts[base, int(max(skew, 1))]
        if skew < 0:
            rare = [skew if i % 2 else 0.0 for i in range(len(base))]
            assert one.log_frequency.tolist() == rare
        else:
            assert one.log_frequency is None
        if geometry == "orthonormal" and not start:
            assert one.embeddings is None
        elif geometry in units:
            np.testing.assert_array_equal(one.embeddings, scale * units[geometry](one.K))
        if start and geometry in units:
            normal = np.random.default_rng(number).standard_normal((one.K, one.K))
            np.testing.assert_array_equal(one.initial_weights, start * normal)
        assert (one.initial_weights is None) == (start == 0)
    names = [one.name for one in found[len(combined) :]]
    assert names == [f"family {n} of {size}" for size in (4, 6, 9) for n in range(7)]
    assert rows_of(found[-20])[0] == ("a b c d e", "a", 1)  # one beats all, e asks


def test_embeddings_of_two_more_geometries() -> None:
    stretched = space._embeddings("stretched", 5, Ends(False))
    np.testing.assert_array_equal(stretched, np.diag([1.0, 2.0, 0.5, 1.0, 2.0]))
    normal = np.random.default_rng(2).standard_normal((3, 3))
    uneven = space._embeddings("uneven", 3, np.random.default_rng(2))
    np.testing.assert_allclose(uneven, [[1.0], [1.0], [30.0]] * normal, rtol=1e-15)
    assert space.EVERY_GEOMETRY == GEOMETRIES


def test_data_is_dressed() -> None:
    plain = dataset(*PAIR)
    normal = np.random.default_rng(0).standard_normal

    def dressed(high: bool, *coins: float, wholes: tuple = (), of: Dataset = plain) -> Dataset:
        return SPACE._dress(of, Ends(high, coins, wholes=wholes))

    bare = dressed(False, 0.3, 0.3)
    np.testing.assert_array_equal(bare.embeddings, np.diag([1.0, 2.0]))
    assert (bare.initial_weights, bare.log_frequency) == (None, None)
    skewed = dressed(True, 0.29, 0.49, of=dataset(*PAIR, skew=5))
    assert skewed.log_frequency.tolist() == [-10_000.0, -10_000.0]
    assert [s.count for s in skewed.data.samples] == [1, 1]
    assert skewed.embeddings is None
    both = dressed(False, 0.29, 0.5, 0.3)
    assert both.log_frequency.tolist() == [0.0, 0.0]
    assert both.embeddings is not None
    started = dressed(False, 0.3, 0.29)
    np.testing.assert_allclose(
        started.initial_weights, 0.01 * np.random.default_rng(0).normal(size=(2, 2))
    )
    usual = dressed(True, 0.3, wholes=(1,))
    np.testing.assert_array_equal(usual.embeddings, np.eye(2))
    np.testing.assert_allclose(usual.initial_weights, 10.0 * normal((2, 2)))
    alone = dressed(False, 0.3, of=dataset("a b -> a"))  # one sample has no skew, and no coin
    assert alone.log_frequency is None
    general = dressed(False, 0.3, 0.29, wholes=(3,))  # three dimensions for two tokens
    assert general.initial_weights.shape == (3, 3)


def test_drawn_data_is_dressed_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = dataset(*PAIR)
    monkeypatch.setattr(space, "draw_data", lambda _: plain.data)
    assert SPACE.draw(Ends(False, [0.3])).embeddings is None
    assert SPACE.draw(Ends(False, [0.29, 0.3, 0.3])).embeddings is not None


def test_data_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log-frequencies go with their samples, and embeddings stay if the tokens do."""
    E = np.array([[1.0, 2.0], [3.0, 4.0]])
    before = dataset(*PAIR, embeddings=E, log_frequency=np.array([-3.0, -5.0]))
    assert SPACE.vary(before, Ends(False, [0.19, 0.3, 0.3])).log_frequency is None
    after = dataset("b a -> b", "b a -> a").data
    monkeypatch.setattr(
        space, "vary_data", lambda *_: replace(before.data, samples=before.data.samples[1:])
    )
    varied = SPACE.vary(before, Ends(False, [0.2]))
    assert varied.log_frequency.tolist() == [-5.0]
    assert varied.embeddings is E
    monkeypatch.setattr(space, "vary_data", lambda *_: dataset("a b c -> a").data)
    assert SPACE.vary(before, Ends(False, [0.2])).embeddings is None
    assert space._carried_over(replace(before, log_frequency=None), after) is None
    new = dataset("a b -> a", "b a -> a").data
    assert space._carried_over(before, new).tolist() == [-3.0, 0.0]


def test_simpler_data_has_fewer_arrays_first() -> None:
    E, W = np.array([[250.0, 0.0], [0.0, 1.0]]), np.ones((2, 2))
    full = dataset(*PAIR, embeddings=E, initial_weights=W, log_frequency=np.array([0.0, -3.0]))
    found = list(SPACE.simpler(full))
    held = [tuple(getattr(one, name) is not None for name in space.ARRAYS) for one in found]
    assert held[:4] == [(False,) * 3, (True, False, True), (True, True, False), (True,) * 3]
    np.testing.assert_allclose(found[3].embeddings, E / 100, rtol=1e-15)
    np.testing.assert_array_equal(found[3].initial_weights, W)
    fewer = [one for one in found if len(one.data.samples) == 1]
    assert {one.log_frequency is not None and len(one.log_frequency) for one in fewer} == {1}
    assert all(one.embeddings is None or len(one.embeddings) == one.K for one in found)
    plain = list(SPACE.simpler(dataset(*PAIR)))
    assert all(one.embeddings is None and one.log_frequency is None for one in plain)
    assert [rows_of(one) for one in plain[:2]] == [[("a b", "a", 1)]] * 2
    assert any(one.K == 1 for one in plain)  # two tokens made one: embeddings would not fit
    assert not any(one.K == 1 and one.embeddings is not None for one in found)


@pytest.mark.parametrize(
    ("largest", "scale"),
    [(250.0, 100.0), (1.0, None), (9.9, None), (10.0, 10.0), (0.99, 0.1), (0.02, 0.01)],
)
def test_embeddings_become_of_size_one(largest: float, scale: float | None) -> None:
    E = np.array([[-largest, 0.0], [0.0, largest / 2]])
    found = list(space._of_size_one(dataset(*PAIR, embeddings=E)))
    assert len(found) == (scale is not None)
    for one in found:
        np.testing.assert_allclose(one.embeddings, E / scale, rtol=1e-15)
    zero = list(space._of_size_one(dataset(*PAIR, embeddings=np.zeros((2, 2)))))
    assert [np.count_nonzero(one.embeddings) for one in zero] == [0]
    assert not list(space._of_size_one(dataset(*PAIR)))


def test_the_size_of_data_is_what_there_is_to_type() -> None:
    """Samples, tokens, lengths, repetitions; 1.5 and -2 have five letters, and -3 has two."""
    arrays = {"embeddings": np.array([[1.5, 0.0], [0.0, -2.0]]), "initial_weights": np.eye(2)}
    one = dataset("a b -> a", "b b a -> b", skew=4, **arrays)
    assert SPACE.size(one) == (2, 2, 5, 3, 5 + 2)
    assert SPACE.size(dataset(*PAIR, log_frequency=np.array([0.0, -3.0]))) == (2, 2, 4, 0, 2)
    assert SPACE.size(dataset(*PAIR)) == (2, 2, 4, 0, 0)


def test_without_a_choice_data_is_degenerate() -> None:
    for E, fits in (
        (np.eye(2), True),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), False),  # both tokens are the same
        (np.array([[1.0, 1.0], [0.0, 0.0]]), False),  # the only query is 0
        (np.array([[0.0, 0.0], [1.0, 0.0]]), True),
    ):
        assert (SPACE.degenerate(dataset("a b -> a", embeddings=E)) is None) == fits
    assert SPACE.degenerate(dataset("a b -> c")) is not None


def test_doubt_is_relative() -> None:
    assert SPACE.doubt(dataset(*PAIR)) == 0.0
    E = np.array([[1.0, 0.3], [0.2, 0.8]])
    one = dataset("a b -> a", embeddings=E)
    # one constraint: W^mm = M / |M|^2 with M = (e_a - e_b) e_b'
    norm = 1 / (math.hypot(0.8, -0.5) * math.hypot(0.2, 0.8))
    assert one.norm == pytest.approx(norm, rel=1e-9)
    assert SPACE.doubt(one) == pytest.approx(one.margin.error_bound / norm, rel=1e-9)
    assert SPACE.doubt(one) > 0


def test_samples_in_the_other_order_and_other_embeddings() -> None:
    rare = np.array([-1.0, -2.0, -3.0])
    three = dataset("a b -> a", "b a -> b", "a b -> b", log_frequency=rare)
    turned, units = SPACE.equivalents(three)
    assert rows_of(turned) == rows_of(three)[::-1]
    assert turned.log_frequency.tolist() == [-3.0, -2.0, -1.0]
    np.testing.assert_array_equal(units.embeddings, np.eye(2))
    E = np.array([[1.0, 2.0, 0.0], [0.5, 0.0, 1.0]])
    given = dataset(*PAIR, embeddings=E)
    _, *moved = SPACE.equivalents(given)
    assert len(moved) == 2
    for number, one in enumerate(moved):
        noise = np.random.default_rng(number).standard_normal((3, 3))
        np.testing.assert_array_equal(one.embeddings, E @ (np.eye(3) + 2.0**-43 * noise))
        assert one.name == given.name


def test_changes_are_of_one_thing_each() -> None:
    three = dataset("a b -> a", "b a -> b", "a b -> b", skew=9)
    found = list(SPACE.changes(three))
    counts = [[s.count for s in one.data.samples] for _, one in found]
    assert counts == [[1, 2, 3], [3, 2, 1], [1, 1, 1], [1, 9, 1], [1, 9, 1]]
    repeated = [row[0] for row in rows_of(found[3][1])]
    assert repeated == ["a a b", "b b a", "a a b"]
    E = found[4][1].embeddings
    np.testing.assert_allclose(E @ E.T, np.eye(2), atol=1e-14)
    assert np.abs(E - np.eye(2)).max() > 0.1
    skewed = replace(three, log_frequency=np.zeros(3), embeddings=np.eye(2))
    assert [name for name, _ in SPACE.changes(skewed)] == ["how often a token is repeated"]
    assert len(list(SPACE.changes(dataset("a b -> a")))) == 2


def test_trainings_are_slow_fast_and_long() -> None:
    rates = (10.0, 100.0, 1.0, 0.1, 1e-3, 1e4, 1e-6)
    found = list(SPACE.trainings())
    assert found[0] == {}
    assert found[1:8] == [{"rate": rate} for rate in rates]
    assert found[8:10] == [{"steps": 10}, {"steps": 20_000}]
    assert found[10:17] == [{"rate": rate, "steps": 10} for rate in rates]
    assert found[17:20] == [{"loss": loss} for loss in ("flat", "squared", "linear")]
    assert found[20:] == [{"loss": "flat", "head": head} for head in ("identity", "embedding")]


def test_scopes_are_whole() -> None:
    scopes = SPACE.scopes({})
    assert [dict(scope.limits) for scope in scopes] == [
        {"K": 3, "T": 3, "n": n} for n in (1, 2, 3, 4)
    ]
    few = SPACE.scopes({"K": 2, "T": 2, "n": 1})
    assert [dict(scope.limits) for scope in few] == [{"K": 2, "T": 2, "n": 1}]
    for one in few[0].instances():
        assert one.K <= 2
        assert one.data.longest_input <= 2
    names = [one.name for one in few[0].instances()]
    assert names == [f"dataset {n}" for n in range(1, len(names) + 1)]


def test_codes_of_hypotheses() -> None:
    known = {
        "realizable": "label_not_in_sequence",
        "independent": "embeddings_dependent",
        "acyclic": "cyclic",
        "feasible": "infeasible",
        "nonzero": "max_margin_zero",
        "orthonormal": "embeddings_not_orthonormal",
        "zero_start": "nonzero_start",
    }
    assert {h.name: set(h.broken_by) for h in hypotheses.HYPOTHESES} == {
        name: {code} for name, code in known.items()
    }
    assert {name: h.name for name, h in readings.ASSUMPTIONS.items()} == {
        "assumption_2": "realizable",
        "assumption_4": "independent",
        "definition_2": "acyclic",
        "feasible": "feasible",
        "max_margin_nonzero": "nonzero",
    }


def chain() -> Dataset:
    """a > b > c under c: W^mm is (1, 0, -1)."""
    return dataset("a b c -> a", "b c -> b")


def made_up(one: Dataset, model: Any, steps: tuple[int, ...], options: dict, **columns: Any) -> Run:
    table = {name: np.array([values], dtype=float) for name, values in columns.items()}
    evidence = Evidence((one,), np.array(steps), table)
    return Run(
        *("mechanics", "", (one,), evidence, (None,), (True,)),
        diverged=(None,),
        model=model,
        options=options,
    )


def test_forecasts_of_curves() -> None:
    """1 - correlation falls like R^-2 along the path; the norm of the flow grows like log t."""
    columns = {"norm": [0.0, 2.0, 4.0], "one_minus_correlation": [1.0, 0.3, 0.1]}
    run = made_up(chain(), None, (0, 5, 20), {"algorithm": "path"}, **columns)
    found = {f.column: f.values.tolist() for f in SETTING.forecasts(run, 0)}
    assert found["correlation"] == [1.0] * 3
    assert found["one_minus_correlation"] == pytest.approx([math.nan, 0.4, 0.1], nan_ok=True)
    run = made_up(chain(), None, (0, 5, 20), {"algorithm": "flow"}, **columns)
    found = {f.column: f.values.tolist() for f in SETTING.forecasts(run, 0)}
    grown = [math.nan, 4 + math.sqrt(2) * math.log(5 / 20), 4.0]
    assert found["norm"] == pytest.approx(grown, nan_ok=True)
    tie = dataset("a b -> a", "a b -> b")
    for one, columns_said in ((chain(), 2), (tie, 0), (dataset("a b -> c"), 0)):
        run = made_up(one, None, (0, 5, 20), {"algorithm": "ngd"}, **columns)
        assert len(SETTING.forecasts(run, 0)) == columns_said
    both = dataset("a b c -> a", "b a c -> b", "a b d -> a")  # ties, and something to separate
    run = made_up(both, None, (0, 5, 20), {"algorithm": "ngd"}, **columns)
    assert [f.column for f in SETTING.forecasts(run, 0)] == ["correlation"]


def softmax(logits: Any) -> np.ndarray:
    odds = np.exp(np.asarray(logits))
    return odds / odds.sum()


def test_looks_and_pictures_are_of_the_first_inputs() -> None:
    """Thirty inputs with a choice under one query: eight are looked at, 24 followed."""
    words = [f"w{n:02}" for n in range(30)]
    lines = [f"{words[n]} {words[(n + 1) % 29]} {words[29]} -> {words[n]}" for n in range(29)]
    one = dataset(*lines)
    draw = np.random.default_rng(0)
    first, last = draw.standard_normal((2, 30, 30))
    run = made_up(one, (SimpleNamespace(weights=[first, last]),), (0, 9), {})
    looks = SETTING.looks(run, 0)
    assert len(looks) == 8
    assert looks[0].title == "should select w00"
    for n, look in enumerate(looks):
        cells = [n, n + 1, 29]
        assert look.tokens == [words[k] for k in cells]
        tokens = [one.data.vocabulary.index(words[k]) for k in cells]
        query = tokens[-1]
        np.testing.assert_allclose(look.before, [1 / 3] * 3)
        np.testing.assert_allclose(look.after, softmax(last[tokens, query]))
    heat, *followed = SETTING.pictures(run, 0)
    assert isinstance(heat, Heat)
    assert len(followed) == 24
    for n, picture in enumerate(followed):
        assert isinstance(picture, Attention)
        tokens = [one.data.vocabulary.index(words[k]) for k in (n, n + 1, 29)]
        rows = [softmax(W[tokens, tokens[-1]]) for W in (first, last)]
        np.testing.assert_allclose(picture.weights, rows)
        assert picture.goal == (0,)
    query = one.data.vocabulary.index("w29")
    assert heat.columns == ("w29",)
    for W, shown in zip((first, last), heat.values, strict=True):
        np.testing.assert_allclose(shown[:, 0], W[:, query] / np.sqrt((W**2).sum()))
    # each of 29 beats the next one, round in a circle, and all of them w29
    goal = [-29.0 if word == "w29" else 1.0 for word in heat.rows]
    np.testing.assert_allclose(heat.goal[:, 0], np.array(goal) / math.sqrt(870), rtol=1e-6)


def test_the_limit_is_shown_up_to_thirty_tokens() -> None:
    for K in (30, 31):
        words = [f"w{n:02}" for n in range(K)]
        one = dataset(f"{' '.join(words)} -> w00")
        run = made_up(one, (SimpleNamespace(weights=[np.zeros((K, K))]),), (0,), {})
        shown = SETTING.pictures(run, 0)
        assert len(shown) == (2 if K == 30 else 1)
        if K == 30:
            np.testing.assert_array_equal(shown[0].values, 0.0)
            # w00 leads the 29 others by 1 and more than they do: 29/30 and -1/30, of norm 1
            goal = np.array([29.0] + [-1.0] * 29) / 30
            np.testing.assert_allclose(shown[0].goal[:, 0], goal / np.sqrt((goal**2).sum()))
    twice = dataset("a b a c -> a", "b c -> b")
    model = (SimpleNamespace(weights=[np.eye(3)]),)
    heat, first, _ = SETTING.pictures(made_up(twice, model, (0,), {}), 0)
    assert first.goal == (0, 2)
    np.testing.assert_allclose(heat.values[0, :, 0], np.eye(3)[:, 2] / math.sqrt(3))
    unmoved = replace(twice, initial_weights=3 * np.eye(3), embeddings=np.eye(3))
    (look, *_) = SETTING.looks(made_up(unmoved, model, (0,), {}), 0)
    np.testing.assert_allclose(look.before, softmax([0.0, 0.0, 0.0, 3.0]))


def test_listed_problems_end_with_how_many_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "MOST_PROBLEMS", 2)
    for count, shown in ((2, 2), (3, 3), (5, 3)):
        lines = [f"a b{n} -> c" for n in range(count)]
        found = dataset(*lines).problems
        assert len([p for p in found if p.code == "label_not_in_sequence"]) == shown
        if count > 2:
            assert found[2].message == f"and {count - 2} more like these"


def test_large_answers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """W^mm of the chain has three entries, two multipliers and the norm sqrt(2)."""
    reading = Reading(chain())
    said = documents.document(reading)["max_margin"]
    values = {(e["token"], e["query"]): e["value"] for e in said["entries"]}
    assert {cell for cell, value in values.items() if value != "0"} == {("a", "c"), ("c", "c")}
    assert said["norm_squared_exact"] == "2"
    for most in (len(values), len(values) - 1):
        monkeypatch.setattr(documents, "MOST_ENTRIES", most)
        found = documents.document(reading)["max_margin"]
        assert len(found["entries"]) == (len(values) if most == len(values) else 0)
        assert found["entries_total"] == len(values)
    for most, count in ((len(said["multipliers"]), len(said["multipliers"])), (1, 0)):
        monkeypatch.setattr(documents, "MOST_ENTRIES", most)
        assert len(documents.document(reading)["max_margin"]["multipliers"]) == count
    for digits, exact in ((0, None), (1, "2")):
        monkeypatch.setattr(documents, "LONGEST_FRACTION", digits)
        assert documents.document(reading)["max_margin"]["norm_squared_exact"] == exact
    pairs = len(chain().strict_pairs)
    for most, known in ((pairs, True), (pairs - 1, False)):
        monkeypatch.setattr(documents, "MOST_PAIRS", most)
        assert (documents.document(reading)["nuclear_margin"] is not None) == known
        monkeypatch.setattr(degenerating, "MOST_PAIRS", most)
        assert (degenerating.degeneracy(chain()) is not None) == known
    for most, count in ((2, 2), (1, 0)):
        monkeypatch.setattr(readings, "MOST_SAMPLES", most)
        assert len(Reading(chain()).predictions) == count


def test_labels_in_reach_and_out_of_reach() -> None:
    """Under b: a twice, b once in reach; c never."""
    one = dataset("a b -> b", "c a b -> a", "a b -> c", "a b -> a", skew=2)
    (query,) = Reading(one).queries.values()
    words = one.data.vocabulary
    assert [words[x] for x in query.reachable] == ["a", "b"]
    assert [words[x] for x in query.unreachable] == ["c"]
    assert query.samples == 1 + 2 + 1 + 2
    (tie,) = query.ties
    names = {words[x]: share for x, share in tie.items()}
    assert list(names) == ["a", "b"]
    assert sum(names.values()) == pytest.approx(1)
    # under b three samples hold a and b alone, once reduced: a occurs 2 + 2 times, b once
    assert names["a"] == pytest.approx(4 / 5, rel=1e-6)
    assert query.shares == tie
    facts = Reading(one).facts
    assert facts == {
        "samples": 6,
        "distinct_inputs": 2,
        "longest_sequence": 3,
        "realizable": False,
        "acyclic": False,
    }


def test_tied_tokens_share_by_how_often_they_occur() -> None:
    """a and b are tied evenly; a a b gives a two thirds."""
    one = dataset("a b c -> a", "a b c -> b", "a a b c -> a", "a b b c -> b")
    found = {s.sample.tokens: s for s in Reading(one).predictions}
    shares = {len(tokens): found[tokens].shares for tokens in found}
    np.testing.assert_allclose(shares[3], [1 / 2, 1 / 2], rtol=1e-6)
    assert sorted(round(x, 6) for x in shares[4]) == [0.333333, 0.666667]


def test_lines_in_words_end_with_how_many_more(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"a {x} -> z" for x in "bcd"]
    reading = Reading(dataset(*lines))
    for most, hidden in ((3, 0), (2, 1), (1, 2)):
        monkeypatch.setattr(wordings, "MOST_QUERIES", most)
        monkeypatch.setattr(wordings, "MOST_LINES", 12)
        text = [str(line) for line in wordings.describe(reading)]
        told = [line for line in text if "more last tokens" in line]
        assert told == ([f"... and {hidden} more last tokens (--json lists all)"] if hidden else [])
        monkeypatch.setattr(wordings, "MOST_LINES", len(reading.dataset.problems) - hidden)
        text = [str(line) for line in wordings.describe(reading)]
        told = [line for line in text if "more problems" in line]
        assert told == ([f"... and {hidden} more problems"] if hidden else [])
        assert sum("does not occur" in line or "W^mm is 0" in line for line in text) >= 4 - hidden


@pytest.mark.parametrize(("K", "least"), [(2, -1.0), (3, -0.5), (5, -0.25)])
def test_equal_correlations_end_where_vectors_add_up_to_zero(K: int, least: float) -> None:
    for rho in (least, 0.0, 0.4, 1.0):
        E = equicorrelated(K, rho)
        expected = [[1.0 if i == j else rho for j in range(K)] for i in range(K)]
        np.testing.assert_allclose(E @ E.T, expected, atol=1e-12)
    for rho in (least - 1e-6, 1.000001):
        with pytest.raises(InputError, match=f"{K} unit vectors cannot"):
            equicorrelated(K, rho)
    assert equicorrelated(1, -3.0).shape == (1, 1)


def test_recipes_end_at_as_many_tokens_as_there_are() -> None:
    draw = np.random.default_rng(0)
    one = Recipe(4, 3, 2, 4).draw("r", draw)
    assert {len(s.tokens) for s in one.data.samples} == {4}
    assert all(len(set(s.tokens)) == 4 for s in one.data.samples)
    for recipe in (Recipe(4, 3, 2, 5), Recipe(0, 3, 2, 0), Recipe(4, 0, 2, 2), Recipe(4, 3, 0, 2)):
        with pytest.raises(InputError, match="cannot draw"):
            recipe.draw("r", draw)
    assert Recipe(2, 3, 1, 9, repeated=True).draw("r", draw).data.longest_input == 9
    assert Recipe(1, 1, 1, 1).draw("r", draw).K == 1
    starts = [Recipe(3, 4, 1, 2).draw("r", draw).initial_weights for _ in range(40)]
    assert 0.49 < max(np.abs(W).max() for W in starts) <= 0.5
    assert min(W.min() for W in starts) < -0.49
    last = Recipe(5, 2, 6, 4, one_last=True).draw("r", draw)
    assert {s.tokens[-1] for s in last.data.samples} == {0}
    assert {len(s.tokens) for s in last.data.samples} == {4}
    assert {s.tokens.count(0) for s in last.data.samples} == {1}
    many = Recipe(3, 2, 9, 6, repeated=True, one_last=True).draw("r", draw)
    assert {len(s.tokens) for s in many.data.samples} == {6}


def test_data_is_made_by_its_sizes() -> None:
    one = make({}, 3)
    assert (one.K, one.E.shape, one.name) == (8, (8, 8), "seed 3")
    assert (one.data.longest_input, one.initial_weights, one.log_frequency) == (6, None, None)
    np.testing.assert_allclose(np.linalg.norm(one.E, axis=1), 1.0)
    assert make({"K": 4}, 3).data.longest_input == 4
    assert max(map(len, (set(s.tokens) for s in make({"K": 4}, 3).data.samples))) == 4
    assert make({"K": 4, "T": 9}, 3).data.longest_input == 9
    sizes = {"K": 5, "d": 7, "n": 3, "T": 4, "kind": "acyclic", "rho": 0.25, "scale": 2.0}
    one = make(sizes | {"skew": 8.0, "labels": "priority"}, 3)
    gram = [[4.0 if i == j else 1.0 for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(one.E @ one.E.T, gram, atol=1e-12)
    assert one.E.shape == (5, 7)
    assert one.acyclic
    count = len(one.data.samples)
    np.testing.assert_allclose(one.log_frequency, -math.log(8) * np.linspace(0, 1, count))


@pytest.mark.parametrize("largest", [1e-60, 1e60, 0.99e-60, 1.01e60])
def test_embeddings_have_products_within_floating_point(largest: float) -> None:
    data = dataset("a b -> a").data
    instance = Instance(data, np.diag([largest, largest / 2]))
    if 1e-60 <= largest <= 1e60:
        assert Dataset.from_instance("d", instance).E[0, 0] == largest
    else:
        with pytest.raises(InputError, match="the largest entry of the embeddings is"):
            Dataset.from_instance("d", instance)


@pytest.mark.parametrize("error", [4e-10, 6e-10])
def test_orthonormal_means_up_to_rounding(error: float) -> None:
    E = np.diag([1.0 + error, 1.0])
    assert dataset("a b -> a", embeddings=E).orthonormal is (error < 5e-10)
    read = Dataset.from_instance("d", Instance(dataset("a b -> a").data, E))
    assert (read.embeddings is None) is (error < 5e-10)


def test_shares_and_totals() -> None:
    """Of 1 + 3 + 1 samples one is out of reach; log n counts the rarest once."""
    one = dataset("a b -> a", "b a -> b", "a b -> c", skew=3)
    np.testing.assert_allclose(np.exp(one.log_shares(one.data)), [0.2, 0.6, 0.2])
    np.testing.assert_allclose(np.exp(one.log_shares(one.realizable)), [0.25, 0.75])
    assert one.log_total == pytest.approx(math.log(5))
    logs = np.log([2.0, 6.0, 12.0])
    skewed = replace(one, log_frequency=logs)
    np.testing.assert_allclose(np.exp(skewed.log_shares(one.data)), [0.1, 0.3, 0.6])
    np.testing.assert_allclose(np.exp(skewed.log_shares(one.realizable)), [0.25, 0.75])
    assert skewed.log_total == pytest.approx(math.log(10))
    tied = dataset("a b -> a", "a b -> b", "b a -> b", skew=3)
    assert tied.tied_samples == [0, 1]
    assert tied.log_tied_share == pytest.approx(math.log(4 / 5))


@pytest.mark.parametrize(
    ("record", "steps", "fits"),
    [
        ((0, 5), 5, True),
        ((0, 6), 5, False),
        ((-1, 5), 5, False),
        ((5,), 5, True),
        ((), 5, True),
    ],
)
def test_records_are_steps_of_the_run(record: tuple, steps: int, fits: bool) -> None:
    if fits:
        assert request_of({"record": record, "steps": steps}).training.record == (record or "log")
    else:
        with pytest.raises(InputError, match="can only record steps 0 to 5"):
            request_of({"record": record, "steps": steps})


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"seed": 3}, False),
        ({"seed": 0}, False),
        ({"seed": 3, "algorithm": "sgd"}, True),
        ({"seed": 3, "algorithm": "factored"}, True),
        ({"seed": 3, "algorithm": "gd"}, False),
        ({"seed": 3, "start": "random"}, True),
        ({"seed": 3, "start": "zero"}, False),
        ({"seed": 3, "heads": 2}, True),
        ({"seed": 3, "heads": 1}, False),
        ({"heads": 2, "start": "zero"}, False),
        ({"heads": 1, "start": "zero"}, True),
        ({"start": "random"}, True),
    ],
)
def test_a_seed_is_for_what_is_drawn(options: dict, fits: bool) -> None:
    if fits:
        check_seed(options)
    else:
        with pytest.raises(InputError, match="no effect"):
            check_seed(options)


def test_starts_are_zero_random_or_given() -> None:
    one = dataset("a b -> a", embeddings=np.array([[1.0, 0, 0, 0], [0.5, 1, 0, 0]]))
    started = replace(one, initial_weights=np.eye(4))
    assert request_of({}).begin(started) is started
    assert request_of({"start": "zero"}).begin(started).initial_weights is None
    drawn = request_of({"start": "random", "seed": 4}).begin(one).initial_weights
    expected = np.random.default_rng(4).uniform(-1, 1, (4, 4)) / 2
    np.testing.assert_array_equal(drawn, expected)
    given = request_of({"start": 2 * np.eye(4)}).begin(one).initial_weights
    np.testing.assert_array_equal(given, 2 * np.eye(4))
    for size in (2, 3, 5):
        with pytest.raises(InputError, match="it needs that of W"):
            request_of({"start": np.zeros((size, size))}).begin(one)


def test_frequencies_to_choose_from() -> None:
    assert space.RARE == (0.0, 0.0, -5.0, -50.0, -1_000.0, -10_000.0)


def test_curves_count_each_dataset_once() -> None:
    """Also copies, for which nothing is computed."""
    one, seen = chain(), []
    for curve in (flow, path):
        follow(curve, [one, one, chain()], np.array([0, 1]), seen.append)
    assert seen == [1] * 6
