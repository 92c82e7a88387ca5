"""Moves in the space of datasets, one by one; what a page shows of a run; borders."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from oracles.ends import Ends

from lemmata._errors import InputError
from lemmata.papers.convergence import theory
from lemmata.papers.convergence.setting import SETTING, Dataset, Joint, TwoStage
from lemmata.papers.convergence.setting import _analysis as analysis
from lemmata.papers.convergence.setting import _hypotheses as hypotheses
from lemmata.papers.convergence.setting import _space as space
from lemmata.papers.convergence.setting._forecasts import _one_optimum_each
from lemmata.papers.convergence.setting._generators import Realizable, Rejection, Samples
from lemmata.papers.convergence.setting._making import make
from lemmata.papers.convergence.setting._options import request_of
from lemmata.settings import Attention, Heat
from lemmata.tokens import TokenData, draw_embeddings
from lemmata.training import Film

SPACE = SETTING.space
RARE = (-5.0, -50.0, -1_000.0, -10_000.0, -1e11)


def rows_of(data: TokenData) -> list[tuple[str, str, int]]:
    names = data.vocabulary
    return [("".join(names[t] for t in s.tokens), names[s.label], s.count) for s in data.samples]


def named(rows: list[tuple[str, str, int]]) -> list[str]:
    return [f"{tokens}>{label}" for tokens, label, _ in rows]


def dataset(*lines: str, **arrays: Any) -> Dataset:
    return Dataset("d", space._parse(lines), **arrays)


def test_lines_are_sentences_or_inputs() -> None:
    assert rows_of(space._parse(("aba", "ba>c"))) == [
        *(("a", "b", 1), ("ab", "a", 1), ("ba", "c", 1)),
    ]
    sources = [s.source for s in space._parse(("aba", "ba>c")).samples]
    assert sources == ["sentence 1", "sentence 1", "sentence 2"]
    lines = space._sentences([((0, 2, 1), 2), ((1, 0), 0)])
    assert lines == ["ab", "bc", "ca", "acb>a", "ba>b"]


def test_a_start_that_prefers_all_but_one() -> None:
    found = list(space._prejudiced(dataset("aba", "ba")))
    assert len(found) == 2 * 2 * 2
    for one, (token, query, start) in zip(found, product((0, 1), (0, 1), (3.0, 20.0)), strict=True):
        W = [[0.0, 0.0], [0.0, 0.0]]
        W[1 - token][query] = start + 0.3 * (1 - token)
        np.testing.assert_allclose(one.initial_weights, W, rtol=1e-15)
        np.testing.assert_array_equal(one.embeddings, np.eye(2))
    three = list(space._prejudiced(dataset("abca", "bc", "ca")))
    np.testing.assert_allclose(three[0].initial_weights[:, 0], [0.0, 3.3, 3.6])


def test_extremes_are_all_combinations() -> None:
    """Plain loops; nothing is drawn for orthonormal and for close embeddings."""
    geometries = ("orthonormal", "rotated", "general", "close", "dependent")
    combined = []
    for base in space.BASES:
        data = space._parse(base)
        skewed = list(space._skewed(data))
        combined += [(*one, "orthonormal", 1.0, 0.0) for one in ((data, None), *skewed)]
        for one, geometry in product(((data, None), skewed[0], skewed[-1]), geometries):
            combined += [(*one, geometry, 1.0, start) for start in (0.01, 1.0, 30.0)]
            if geometry != "orthonormal":
                combined += [(*one, geometry, s, 0.0) for s in (1.0, 1e-3, 0.1, 10.0, 1e3)]
    found = [one for one in SPACE.extremes() if one.name != "prejudiced"]
    plain, families = found[: len(combined)], found[len(combined) :]
    assert len(families) == 21
    for number, (one, expected) in enumerate(zip(plain, combined, strict=True), start=1):
        data, log_pi, geometry, scale, start = expected
        assert one.name == f"extreme {number}"
        assert one.data is data or one.data.samples == data.samples
        np.testing.assert_array_equal(one.log_frequency, log_pi)
        assert (one.embeddings is None) == (geometry == "orthonormal" and not start)
        assert (one.initial_weights is None) == (not start)
        draw, K = np.random.default_rng(number), data.size
        E = draw_embeddings(geometry, K, draw)
        E = np.eye(K) if E is None else E
        if one.embeddings is not None:
            np.testing.assert_array_equal(one.embeddings, E * scale)
        if start:
            normal = draw.standard_normal((E.shape[1], E.shape[1]))
            np.testing.assert_array_equal(one.initial_weights, start * normal)
    names = [one.name for one in families]
    assert names == [f"family {n} of {size}" for size in (4, 6, 9) for n in range(7)]
    # one of a to d beats all when e asks, and is followed by b
    assert named(rows_of(families[1].data)) == ["a>b", "b>c", "c>d", "d>e", "e>a", "abcde>b"]


def test_frequencies_from_even_to_skewed() -> None:
    assert (space.COUNTS, space.RARE) == ((1, 2, 10, 1_000, 1_000_000), RARE)
    assert [dict(training) for training in SPACE.trainings()] == [
        {},
        *({"rate": rate} for rate in (1e-3, 0.1, 1.0, 10.0, 100.0)),
        *({"steps": 10}, {"steps": 10_000}, {"stage1_steps": 1}, {"stage1_rate": 100.0}),
        *({"rate": rate, "stage1_steps": 1} for rate in (0.1, 10.0)),
        *({"rate": rate, "stage1_rate": 100.0} for rate in (0.1, 10.0)),
    ]


class Recorded:
    """Stands in for a recipe, and keeps what it was made of."""

    asked: list = []  # noqa: RUF012

    def __init__(self, *sizes: Any):
        self.asked.append(sizes)

    def draw(self, _: Any) -> TokenData:
        return space._parse(("zyz", "yz"))


def test_drawn_data_is_of_these_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "Realizable", Recorded)
    Recorded.asked.clear()
    one = SPACE.draw(Ends(False, [0.3, 0.25, 0.69, 0.4]))
    assert Recorded.asked == [(2, 1, 0.25, 1, 3, True)]
    assert (named(rows_of(one.data)), one.name) == (["a>b", "ab>a", "b>a"], "drawn")
    assert (one.embeddings, one.log_frequency) == (None, None)
    SPACE.draw(Ends(True, [0.3, 0.75, 0.7, 0.4]))
    assert Recorded.asked[1] == (6, 5, 0.75, 5, 7, False)
    dressed = SPACE.draw(Ends(False, [0.3, 0.25, 0.5, 0.39, 0.49, 0.39, 0.4]))
    assert dressed.log_frequency.tolist() == [0.0, 0.0, 0.0]
    monkeypatch.setattr(space, "draw_data", lambda _: space._parse(("xy>x", "yx>x")))
    paired = SPACE.draw(Ends(False, [0.29, 0.4]))
    assert sorted(named(rows_of(paired.data))) == ["a>a", "ab>a", "b>b", "ba>a"]
    assert len(Recorded.asked) == 3


def test_data_is_dressed() -> None:
    plain = dataset("aba", "ba")
    counted = Dataset.from_sentences("d", {"a b a": 5, "b a": 2})

    def dressed(high: bool, *coins: float, of: Dataset = plain, wholes: tuple = ()) -> Dataset:
        return space._dress(of, Ends(high, coins, wholes=wholes))

    bare = dressed(False, 0.5, 0.4, 0.4, of=counted)
    assert (bare.log_frequency, bare.embeddings, bare.initial_weights) == (None, None, None)
    assert [s.count for s in bare.data.samples] == [5, 5, 2]
    skewed = dressed(True, 0.49, 0.39, 0.4, of=counted)
    assert skewed.log_frequency.tolist() == [-1e11] * 3
    assert [s.count for s in skewed.data.samples] == [1, 1, 1]
    assert skewed.embeddings is None
    assert dressed(False, 0.49, 0.39, 0.4).log_frequency.tolist() == [0.0] * 3
    general = dressed(True, 0.5, 0.4, 0.39, wholes=(2,))
    np.testing.assert_array_equal(general.embeddings, np.random.default_rng(0).normal(size=(2, 3)))
    assert general.initial_weights.shape == (3, 3)
    for high, size in ((False, 0.01), (True, 10**1.5)):
        started = dressed(high, 0.5, 0.39, 0.39)
        np.testing.assert_array_equal(started.embeddings, np.eye(2))
        expected = size * np.random.default_rng(0).standard_normal((2, 2))
        np.testing.assert_allclose(started.initial_weights, expected, rtol=1e-14)
    assert dressed(True, 0.5, 0.4, 0.4).embeddings.shape == (2, 1)  # dependent ones


def varied(kind: int, *lines: str, high: bool = False, words: tuple = (0,), wholes: tuple = ()):
    draw = Ends(high, words=words, wholes=(kind, *wholes))
    return rows_of(space._vary_sentences(space._parse(lines), draw))


def test_a_sentence_varies() -> None:
    """n swaps a and b: after the sentence abab the winner a is followed by b."""
    lines = ("abab", "ba")
    before = rows_of(space._parse(lines))
    assert named(before) == ["a>b", "ab>a", "aba>b", "b>a"]
    longest = space._longest(space._parse(lines))
    assert longest == [2]
    longer = varied(0, *lines, words=(2,), wholes=(0,))
    assert longer == [*before, ("abab", "b", 1)]
    assert varied(0, *lines, words=(2,), wholes=(3,))[-1] == ("abab", "a", 1)
    assert varied(1, *lines, words=(2,)) == [*before[:2], before[3]]
    ends = varied(2, *lines, words=(2,), wholes=(1,))
    assert ends == [*before[:2], ("aba", "a", 1), before[3]]
    for high, place, count in ((False, 0, 1), (True, 3, 1_000_000)):
        counted = varied(3, *lines, high=high, words=(2,))
        assert [n for _, _, n in counted] == [count if i == place else 1 for i in range(4)]
    for size, longer in ((5, True), (6, False)):
        long = "ab" + "ab" * 3
        found = varied(0, long[: size + 1], "ba", words=(size - 1,), wholes=(0,))
        assert (max(len(tokens) for tokens, _, _ in found) > size) == longer
    pair = varied(1, "ab", "ba", words=(0,), wholes=(0,))
    assert len(pair) == 2  # a pair stays, and a count changes instead


def test_data_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    skew = np.array([0.0, -1.0, -2.0])
    before = dataset("aba", "ba", log_frequency=skew, embeddings=np.eye(2))
    assert SPACE.vary(before, Ends(False, [0.19, 0.5, 0.4, 0.4])).log_frequency is None
    counted = SPACE.vary(before, Ends(False, [0.2], wholes=(3, 0), words=(0, 7)))
    assert [s.count for s in counted.data.samples] == [7, 1, 1]
    assert (counted.log_frequency, counted.embeddings is None) == (None, False)
    same = SPACE.vary(before, Ends(False, [0.2], wholes=(3, 0), words=(0, 1)))
    assert same.log_frequency is skew
    other = SPACE.vary(before, Ends(False, [0.2], wholes=(1,), words=(1,)))
    assert (other.embeddings, other.log_frequency) == (None, None)
    open_data = dataset("a>a", "b>b", "ab>a", "aab>b")
    calls = []
    monkeypatch.setattr(space, "vary_data", lambda data, _: calls.append(rows_of(data)) or data)
    found = SPACE.vary(open_data, Ends(False, [0.2]))
    assert calls == [[("ab", "a", 1), ("aab", "b", 1)]]  # each token is sent to itself
    assert sorted(named(rows_of(found.data))) == ["a>a", "aab>b", "ab>a", "b>b"]
    SPACE.vary(dataset("a>b", "b>a", "aab>b"), Ends(False, [0.2], wholes=(3, 0), words=(0, 1)))
    assert len(calls) == 1


def test_sentences_become_shorter() -> None:
    data = space._parse(("abab", "ba"))
    found = [named(rows_of(one)) for one in space._shorter_sentences(data)]
    assert found == [["a>b", "b>a"], ["a>b", "ab>a", "b>a"]]
    two = space._parse(("aba", "bab"))
    found = [named(rows_of(one)) for one in space._shorter_sentences(two)]
    assert found == [["a>b", "b>a", "ba>b"], ["a>b", "ab>a", "b>a"]]
    # tokens are numbered and called by first appearance
    moved = space._lettered(TokenData.from_samples([(("y",), "x", 1, "1"), (("x",), "y", 2, "2")]))
    assert rows_of(moved) == [("a", "b", 1), ("b", "a", 2)]


def test_simpler_data_has_fewer_arrays_first() -> None:
    arrays = {
        "embeddings": np.array([[1.0, 0.5], [0.0, 1.0]]),
        "initial_weights": np.ones((2, 2)),
        "initial_values": np.ones((2, 2)),
        "log_frequency": np.array([0.0, -1.0, -2.0]),
    }
    found = list(SPACE.simpler(dataset("aba", "ba", **arrays)))
    held = [tuple(getattr(one, name) is not None for name in arrays) for one in found[:4]]
    assert held == [
        (False,) * 4,
        *((True, False, True, True), (True, True, False, True), (True, True, True, False)),
    ]
    for one in found:
        assert one.log_frequency is None or len(one.log_frequency) == len(one.data.samples)
        assert one.K == 2 or one.embeddings is None
    fewer = [one for one in found if len(one.data.samples) == 2 and one.K == 2]
    assert fewer
    assert {tuple(one.log_frequency) for one in fewer} <= {(0.0, -1.0), (0.0, -2.0), (-1.0, -2.0)}
    plain = list(SPACE.simpler(dataset("aba", "ba")))
    assert named(rows_of(plain[0].data)) == ["a>b", "b>a"]
    assert any(one.K == 1 for one in plain)
    valued = list(SPACE.simpler(dataset("aba", "ba", initial_values=np.ones((2, 2)))))
    assert not any(one.K == 1 and one.initial_values is not None for one in valued)


def test_the_size_of_data_is_what_there_is_to_type() -> None:
    """Samples, tokens, lengths, repetitions; then digits of 0.5, 1, -3 and 12."""
    counted = Dataset.from_sentences("d", {"a b a": 3, "b a": 1})
    assert SPACE.size(counted) == (3, 2, 4, 4, 0)
    arrays = {
        "embeddings": np.array([[1.0, 0.5], [0.0, 0.0]]),
        "initial_values": np.array([[12.0, 0.0], [0.0, 0.0]]),
        "log_frequency": np.array([0.0, -3.0, 0.0]),
    }
    assert SPACE.size(dataset("aba", "ba", **arrays)) == (3, 2, 4, 0, 1 + 3 + 2 + 2)


def test_changes_are_of_one_thing_each() -> None:
    counted = Dataset.from_sentences("d", {"a b a": 3, "b a": 1})
    (first, more), (second, turned) = SPACE.changes(counted)
    assert (first[:9], [s.count for s in more.data.samples]) == ("how often", [3, 4, 3])
    E = turned.embeddings
    np.testing.assert_allclose(E @ E.T, np.eye(2), atol=1e-14)
    assert np.abs(np.abs(E) - np.eye(2)).max() > 0.01
    assert second == "which orthonormal family it is"
    skewed = replace(counted, log_frequency=np.zeros(3), embeddings=np.eye(2))
    assert list(SPACE.changes(skewed)) == []


def test_scopes_in_their_order() -> None:
    scopes = SPACE.scopes({})
    assert [dict(scope.limits) for scope in scopes] == [
        *({"K": 3, "T": 3, "n": n} for n in (1, 2)),
        {"K": 4, "T": 4},
        *({"K": 3, "T": 3, "n": n} for n in (3, 4)),
    ]
    few = list(SPACE.scopes({"K": 2, "T": 2, "n": 1})[0].instances())
    assert [one.name for one in few] == [f"dataset {n}" for n in range(1, len(few) + 1)]
    assert {sum(len(s.tokens) > 1 for s in one.data.samples) for one in few} == {1}
    assert max(one.data.longest_input for one in few) == 2


def test_codes_of_hypotheses() -> None:
    collocation = {"collocation_conflict", "collocation_missing", "collocation_not_injective"}
    orders = {"ambiguous_label", "order_not_well_defined", "confused_token"}
    known = {
        "collocation": collocation,
        "orders": orders,
        "preimage": {"preimage_not_in_sentence"},
        "prefix_closed": {"not_prefix_closed"},
        "orthonormal": {"embeddings_not_orthonormal"},
        "not_outnumbered": {"assumption_3"},
        "two_tokens": {"single_token"},
        "choice": {"single_token", "nothing_to_attend"},
        "single_valued": {"collocation_conflict", "collocation_missing"},
        "values_from_zero": {"initial_values_not_zero"},
        "zero_start": {"initial_weights_not_zero", "initial_values_not_zero"},
        "realizable": collocation | orders | {"preimage_not_in_sentence"},
    }
    assert {h.name: set(h.broken_by) for h in hypotheses.HYPOTHESES} == known
    groups = {
        "STANDING": ("collocation", "orders", "preimage", "prefix_closed"),
        "FIRST_LAYER": ("single_valued", "collocation", "two_tokens", "orthonormal"),
        "AT_POINTS": ("single_valued", "orders", "orthonormal", "choice"),
    }
    groups["STAGE_1"] = (*groups["FIRST_LAYER"], "values_from_zero")
    more = ("orthonormal", "not_outnumbered", "choice", "zero_start")
    groups["STAGE_2"] = (*groups["STANDING"], *more)
    found = {name: tuple(h.name for h in getattr(hypotheses, name)) for name in groups}
    assert found == groups
    assert {name: h.name for name, h in analysis.ASSUMPTIONS.items()} == {
        "assumption_1_collocation": "collocation",
        "assumption_1_orders": "orders",
        "assumption_2": "orthonormal",
        "assumption_3": "not_outnumbered",
        "prefix_closed": "prefix_closed",
        "preimage_in_sentence": "preimage",
        "zero_initialization": "zero_start",
        "attention_has_a_choice": "choice",
    }


def test_one_optimal_token_each() -> None:
    one = dataset("a>a", "b>b", "c>c", "ac>a")
    two = dataset("a>a", "b>b", "c>c", "ac>a", "bc>b")
    assert _one_optimum_each(one)
    assert not _one_optimum_each(two)
    assert _one_optimum_each(dataset("ab", "ba"))  # none at all


@pytest.fixture(scope="module")
def shown() -> Any:
    """26 inputs of two tokens, each with two records of stage 2."""
    names = "abcdefghijklmnopqrstuvwxyz"
    lines = [f"{x}{y}" for x, y in zip(names, names[1:] + names[0], strict=True)]
    inputs = [f"{x}a>{y}" for x, y in zip(names[1:], names[2:] + "a", strict=True)]
    data = dataset(*lines, *inputs, "baa>c")
    options = {"stage1_steps": 3, "steps": 4, "record": (0, 2, 4)}
    return data, SETTING.train([data], options, store=Film())


def test_looks_and_pictures_are_of_the_first_inputs(shown: Any) -> None:
    """Attention is even at first; eight inputs are looked at, and 24 followed."""
    data, run = shown
    looks = SETTING.looks(run, 0)
    assert [look.tokens for look in looks] == [[x, "a"] for x in "bcdefghi"]
    assert looks[0].title == "next comes c"
    heat, *followed = SETTING.pictures(run, 0)
    assert isinstance(heat, Heat)
    assert [picture.tokens for picture in followed] == [
        (x, "a") for x in "bcdefghijklmnopqrstuvwxy"
    ]
    for look, picture in zip(looks, followed, strict=False):
        assert isinstance(picture, Attention)
        np.testing.assert_allclose(look.before, [0.5, 0.5])
        np.testing.assert_allclose(picture.weights[0], [0.5, 0.5])
        np.testing.assert_allclose(picture.weights[-1], look.after)
        assert picture.weights[2, 0] > picture.weights[1, 0] > 0.5
        assert picture.goal == (0,)
    names = data.data.vocabulary
    assert heat.columns == tuple(names)
    assert heat.values.shape == (3, 26, 26)
    np.testing.assert_array_equal(heat.values[0], 0.0)
    sizes = np.sqrt((heat.values**2).sum(axis=(1, 2)))
    np.testing.assert_allclose(sizes, [0.0, 1.0, 1.0], rtol=1e-12)
    a, b = names.index("a"), names.index("b")
    lead = (heat.values[2, b, a] - heat.values[2, a, a]) * np.linalg.norm(run.model.key_query(0))
    final = run.model.attention(0, [b, a])
    assert lead == pytest.approx(math.log(final[0] / final[1]))
    # each of 25 tokens leads a by 1: 1/26 and -25/26
    goal = np.array([-25.0 if name == "a" else 1.0 for name in names]) / math.sqrt(26 * 25)
    np.testing.assert_allclose(heat.goal[:, a], goal, rtol=1e-9)


def test_data_is_made_by_its_sizes() -> None:
    one = make({}, 3)
    assert (one.K, one.log_frequency) == (20, None)
    assert one.L_max <= 10
    cycles = make({"K": 6, "L": 4, "cycles": 3, "skew": 8.0}, 3)
    following, seen, rings = cycles.collocation.following, set(), 0
    for start in range(6):
        rings += start not in seen
        while start not in seen:
            seen.add(start)
            start = following[start]
    assert rings == 3
    assert cycles.L_max <= 4
    count = len(cycles.data.samples)
    np.testing.assert_allclose(cycles.log_frequency, -math.log(8) * np.linspace(0, 1, count))
    assert len({make({"reflect": x}, 3).data.samples for x in (0.0, 1.0)}) == 2


@pytest.mark.parametrize("algorithm", ["ngd", "gd", "factored", "joint"])
def test_the_last_step_is_recorded(algorithm: str) -> None:
    asked = {"steps": 9, "record": (2, 5), "algorithm": algorithm}
    # joint training has no second stage, and records what is asked
    expected = [2, 5] if algorithm == "joint" else [2, 5, 9]
    assert request_of(asked).recorded.tolist() == expected


def test_requests_are_typed() -> None:
    assert request_of({}).training == TwoStage(record="log")
    joint = request_of({"algorithm": "joint", "steps": 3}).training
    assert isinstance(joint, Joint)
    assert joint.steps == 3
    factored = request_of({"algorithm": "factored", "steps": 7, "heads": 2, "width": 3})
    assert factored.training.steps == 7
    assert request_of({"predict": "a b"}).predict == ("a b",)
    assert request_of({"predict": ["a", "b"]}).predict == ("a", "b")
    assert request_of({"algorithm": "gd"}).training.rule == "gd"
    start = request_of({"stage1_start": np.eye(2)}).stage1_start
    np.testing.assert_array_equal(start, np.eye(2))


@pytest.mark.parametrize(
    ("bound", "start", "first"),
    [
        (lambda t: t - 10.0, 1.0, 11.0),
        (lambda t: t - 10.5, 1.0, 11.0),
        (lambda t: t - 1_000_000.25, 1.0, 1_000_001.0),
        (lambda t: t, math.e, 3.0),
        (lambda t: t - 2, 3.0, 3.0),
        (lambda t: -1.0, 1.0, math.inf),
        (lambda t: -1 / t, 1.0, math.inf),
    ],
)
def test_first_steps_by_bisection(bound: Any, start: float, first: float) -> None:
    found = theory.first_step(bound, 0.0, start)
    assert found == first or 0 <= found - first <= 1


def test_bounds_at_one_place() -> None:
    """Each formula again, with K = 3, L = 2, N = 5, n = 1.5, eta_0 = 0.5, eta = 0.25, t = 100."""
    K, L, N, n, eta0, eta, t = 3, 2, 5, 1.5, 0.5, 0.25, 100.0
    log_t = math.log(100)
    C1 = eta / (4 * L * n**2)
    beta = 2 * 4 * 2.25 / 7.0 * (1 + math.log(2 * 2 * 7.0))
    for found, expected in (
        (theory.value_cosine_bound(t, eta0, n, K, 5), 1 - 5 * 3.375 * math.log(6) * log_t / 50),
        (
            theory.attention_cosine_bound(t, eta, n, N, L),
            1 - 54 * 5 * 16 * 1.5**4 * log_t**2 / 25,
        ),
        (theory.C0(eta0, n), 0.5 / 9),
        (theory.C1(eta, n, L), C1),
        (theory.attention_weight_bound(t, eta, n, L), 1 / (1 + 2 * math.exp(-C1 * 100))),
        (
            theory.log_loss_bound(t, 40.0, 0.1, eta, n, K, L),
            math.log(3) - 4 * (1 - 4 / (2 + math.exp(C1 * 100))),
        ),
        (theory.lemma_7_beta(7.0, n, L), beta),
        (theory.lemma_7_alpha(7.0, n, N, L), 10 * beta),
        (theory.lemma_7_start(eta, n, L), math.ceil(8 * 2 * 2.25 / 0.25)),
        (theory.lemma_7_start(0.24, n, L), 150.0),
        (
            theory.loss_floor(10.0, eta0, K),
            math.log(math.log1p(2 * math.exp(-5 / math.sqrt(2)))),
        ),
        (theory.loss_floor(1e4, eta0, K), math.log(2) - 5_000 / math.sqrt(2)),
    ):
        assert found == pytest.approx(expected, rel=1e-12)
    for found, constant, power in (
        (theory.corollary_1_steps(eta0, n, K), 384 * n**5 * math.log(6) / 0.5, 1),
        (theory.theorem_2_steps(eta, n, N, L), 1696 * 5 * 16 * n**6 / 0.25, 2),
        (theory.value_bound_starts(eta0, n, K, 5), 5 * n**3 * math.log(6) / 0.5, 1),
        (theory.value_bound_starts(eta0, n, K, 12), 12 * n**3 * math.log(6) / 0.5, 1),
        (theory.attention_bound_starts(eta, n, N, L), 54 * 5 * 16 * n**4 / 0.25, 2),
    ):
        assert found > constant * math.log(found) ** power
        assert found - 2 < constant * math.log(found - 2) ** power


def test_an_optimal_token_is_shared_evenly() -> None:
    found = theory.proposition_2_column(2, 3)
    assert [float(x) for x in found] == [0.6, -0.4]


@pytest.mark.parametrize("count", [0, -1, True])
def test_counts_are_whole_numbers(count: Any) -> None:
    with pytest.raises(InputError, match="a count is a whole number from 1 on"):
        Dataset.from_samples("d", [["a"]], ["b"], [count])
    assert Dataset.from_samples("d", [["a"]], ["b"], [1]).data.total == 1


def rings_of(data: TokenData) -> list[int]:
    """The sizes of the cycles of the collocation."""
    following, seen, sizes = Dataset("d", data).collocation.following, set(), []
    for start in following:
        before = len(seen)
        while start not in seen:
            seen.add(start)
            start = following[start]
        sizes += [len(seen) - before] if len(seen) > before else []
    return sizes


@pytest.mark.parametrize(
    "recipe", [Rejection(5, 4, 6), Samples(5), Realizable(5), Realizable(5, 3)]
)
def test_collocations_have_one_cycle_unless_asked(recipe: Any) -> None:
    for seed in range(4):
        rings = rings_of(recipe.draw(np.random.default_rng(seed)))
        assert len(rings) == getattr(recipe, "cycles", 1)


def test_only_what_is_solved_is_a_direction() -> None:
    for lines, grows in ((("aba", "ba"), [True, True]), (("ab", "ba"), [False, True])):
        view = SETTING.analyze(dataset(*lines)).orders_view()
        assert ["As training goes on" in " ".join(limit.says) for limit in view.limits] == grows
