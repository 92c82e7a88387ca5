"""The space of datasets, and Algorithm 1 again in ball arithmetic."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from flint import ctx
from oracles.golden import cases

from lemmata.papers.convergence.experiments._points import equation_6
from lemmata.papers.convergence.setting import REALIZABLE, SETTING, Dataset, Joint, TwoStage
from lemmata.papers.convergence.setting._replay import _evaluate, _inputs, replay
from lemmata.papers.convergence.setting._scopes import realizable_sentences, small_datasets
from lemmata.papers.convergence.setting._space import SentenceSpace, _skewed
from lemmata.search import read_back
from lemmata.settings import as_balls
from lemmata.tokens import TokenData

SPACE = SentenceSpace()


def dataset(kind: str) -> Dataset:
    plain = Dataset.from_sentences("d", {"a b c a b": 3, "b c": 1, "c a b c": 2})
    draw = np.random.default_rng(1)
    if kind == "counts":
        return plain
    if kind == "rare":
        return replace(plain, log_frequency=np.linspace(-2_000, -1, len(plain.data.samples)))
    E = draw.standard_normal((plain.K, 4))
    W = draw.standard_normal((4, 4)) if kind == "start" else None
    return replace(plain, embeddings=E, initial_weights=W)


@pytest.fixture(autouse=True)
def _precision():
    old, ctx.prec = ctx.prec, 1_500
    yield
    ctx.prec = old


@pytest.mark.parametrize("kinds", [("counts", "rare"), ("general", "start")])
@pytest.mark.parametrize(
    "options", [{}, {"rule": "gd"}, {"rate": 1.0}, {"stage1_rate": 9.0, "stage1_steps": 50}]
)
def test_training_agrees_with_balls(kinds: tuple[str, str], options: dict) -> None:
    steps = np.array([0, 1, 7, 60])
    training = replace(TwoStage(stage1_steps=200, steps=60, record=(0, 1, 7, 60)), **options)
    instances = [dataset(kind) for kind in kinds]
    series = training.run(instances).stage2.series
    series["correlation"] = 1 - series["one_minus_correlation"]
    for row, instance in enumerate(instances):
        columns = SPACE.replay(instance, training.options, steps)
        assert columns is not None
        for name, grid in series.items():
            middle = np.array([float(ball.mid()) for ball in columns[name]])
            # at W = 0 there is no direction
            known = np.isfinite(middle) & np.isfinite(grid[row])
            assert known[1:].all(), name
            size = 1e-10 * float(1 + columns["norm"][-1])
            np.testing.assert_allclose(grid[row][known], middle[known], rtol=1e-9, atol=size)
            sizes = [float(ball.rad()) for ball in columns[name][known]]
            assert max(sizes) < 1e-50


@pytest.mark.parametrize("log_pi", [(-3.0, -1.0), (-2_000.0, -1.0), (-9_000.0, -8_000.0)])
def test_printed_gradient_agrees_with_balls_however_rare_the_inputs(log_pi) -> None:
    """Eq. (6) up to a common factor, also where every input with a choice is rare."""
    instance = dataset("counts")
    choice = np.array([len(set(s.tokens)) > 1 for s in instance.data.samples])
    rare = np.where(choice, np.linspace(*log_pi, len(choice)), -1.0)
    instance = replace(instance, log_frequency=rare)
    values, weights = np.random.default_rng(3).standard_normal((2, instance.K, instance.K))
    slope = _evaluate(as_balls(weights), _inputs(instance, as_balls(values)), instance.K)[1]
    length = sum(x**2 for x in slope.entries()).sqrt()
    unit = np.array([float(x / length) for x in slope.entries()]).reshape(weights.shape)
    printed = equation_6(instance, values, weights)
    np.testing.assert_allclose(printed / np.linalg.norm(printed), unit, rtol=1e-12, atol=1e-14)


def test_balls_agree_with_stored_trajectories() -> None:
    """The stored numbers were computed once by code that is not in this package."""
    case = cases()["example1"]
    facts = case.facts["trajectory"]
    instance = Dataset("example1", case.from_sentences or case.data)
    training = TwoStage(rate=facts["eta"], stage1_rate=facts["eta0"])
    steps = np.array(sorted(int(t) for t in facts["stage2"] if int(t) <= 100))
    columns = replay(instance, training, steps)
    assert len(steps) > 2
    for at, t in enumerate(steps):
        row = facts["stage2"][str(t)]
        assert float(columns["norm"][at]) == pytest.approx(row["norm"], rel=1e-9)
        assert float(columns["log_loss"][at]) == pytest.approx(row["log_loss"], abs=1e-8)
        if t > 0:
            assert float(columns["correlation"][at]) == pytest.approx(row["cos"], abs=1e-9)


def test_closed_form_of_stage_1_agrees_with_its_steps() -> None:
    """With the usual embeddings written out the steps are taken one by one."""
    plain = dataset("counts")
    spelt = replace(plain, embeddings=np.eye(plain.K))
    steps = np.array([0, 3, 9])
    for name, balls in replay(plain, TwoStage(stage1_steps=40), steps).items():
        others = replay(spelt, TwoStage(stage1_steps=40), steps)[name]
        known = [(a, b) for a, b in zip(balls, others, strict=True) if a.is_finite()]
        assert all(abs(float(a - b)) <= 1e-60 * (1 + abs(float(a))) for a, b in known), name


@pytest.mark.parametrize("rate", ["paper", 1.0])
def test_joint_training_agrees_with_balls(rate) -> None:
    steps, training = np.array([0, 1, 7, 40]), Joint(steps=40, rate=rate)
    plain = dataset("counts")
    skew = np.linspace(-9, -1, len(plain.data.samples))
    instances = [plain, replace(plain, log_frequency=skew)]
    series = training.run(instances).recording.series
    for row, instance in enumerate(instances):
        columns = SPACE.replay(instance, training.options, steps)
        assert columns is not None
        assert set(series) < set(columns)
        for name, grid in series.items():
            start = 2 if "correlation" in name else 0  # at W = 0 there is no direction
            middle = [float(ball) for ball in columns[name][start:]]
            np.testing.assert_allclose(grid[row, steps[start:]], middle, rtol=1e-9, atol=1e-11)


def test_balls_do_not_cover_joint_training_elsewhere() -> None:
    options = Joint(steps=3).options
    assert SPACE.replay(dataset("general"), options, np.array([0, 3])) is None


def test_too_little_precision_is_no_answer() -> None:
    ctx.prec = 64
    columns = SPACE.replay(dataset("counts"), {}, np.array([0, 2, 100]))
    assert columns is not None
    assert columns["norm"][0].is_finite()
    assert not columns["norm"][-1].is_finite()


def canonical(data: TokenData) -> tuple:
    """One value for all data that differ by names of tokens."""
    return min(
        tuple(sorted((tuple(new[t] for t in s.tokens), new[s.label]) for s in data.samples))
        for new in permutations(range(data.size))
    )


def test_every_small_prefix_closed_dataset_is_there_once() -> None:
    """Against all sets of one sentence a start, by brute force, with two tokens."""
    seen = [
        canonical(data)
        for n in (1, 2, 3, 4)
        for data in small_datasets(2, 3, n)
        if not Dataset("d", data).broken("not_prefix_closed")
    ]
    rests = [rest for length in range(3) for rest in product("ab", repeat=length)]
    every = {
        canonical(TokenData.from_sentences([("a", x, *one), ("b", y, *two)], "ab"))
        for x, y, one, two in product("ab", "ab", rests, rests)
        if one or two
    }
    assert len(seen) == len(set(seen))
    assert set(seen) == every


def test_realizable_sentences_are_those_without_problems() -> None:
    """Of all sentences, those that the definitions let pass."""
    seen = [canonical(data) for data in realizable_sentences(2, 4)]
    rests = [rest for length in range(4) for rest in product("ab", repeat=length)]
    every = set()
    for x, y, one, two in product("ab", "ab", rests, rests):
        data = TokenData.from_sentences([("a", x, *one), ("b", y, *two)], "ab")
        if not REALIZABLE.broken(Dataset("d", data).problems):
            every.add(canonical(data))
    assert len(seen) == len(set(seen))
    assert set(seen) == every


def test_scopes_grow_and_are_counted() -> None:
    sizes = [sum(1 for _ in scope.instances()) for scope in SPACE.scopes({})[:4]]
    assert sizes == [58, 419, 2_599, 2_127]


def test_each_choice_is_frequent_and_rare_in_turn() -> None:
    """Of aba and bab the inputs ab and ba are choices; the third time every second one."""
    data = TokenData.from_sentences(["aba", "bab"])
    inputs = [sample.tokens for sample in data.samples]
    skewed = list(_skewed(data))
    found = []
    for counted, log_pi in skewed:
        assert [sample.tokens for sample in counted.samples] == inputs
        numbers = [s.count for s in counted.samples] if log_pi is None else log_pi.tolist()
        usual = 1 if log_pi is None else 0.0
        (skew,) = {number for number in numbers if number != usual}
        found.append((skew, [x for x, n in zip(inputs, numbers, strict=True) if n != usual]))
    skews = [10, 1_000, 1_000_000, -5.0, -50.0, -1_000.0, -10_000.0, -1e11]
    assert found == [(skew, [x]) for x in ((0, 1), (1, 0), (0, 1)) for skew in skews]


def test_extremes_and_variations_are_data_that_can_be_read_back() -> None:
    generator = np.random.default_rng(0)
    extremes = list(SPACE.extremes())
    assert len(extremes) > 1_000
    drawn = [SPACE.draw(generator) for _ in range(40)]
    varied = [SPACE.vary(instance, generator) for instance in drawn]
    realizable = [instance for instance in drawn if not REALIZABLE.broken(instance.problems)]
    outnumbered = sum(bool(instance.broken("assumption_3")) for instance in realizable)
    assert 0 < outnumbered < len(realizable) - 10
    assert extremes[0].data.samples[0].source == "sentence 1"
    for instance in (*extremes[::53], *drawn, *varied):
        again = read_back(SETTING, instance)
        for name in ("tokens", "label", "count"):
            rows = ([getattr(s, name) for s in d.data.samples] for d in (again, instance))
            assert next(rows) == next(rows)
        if instance.log_frequency is not None:
            np.testing.assert_array_equal(again.log_frequency, instance.log_frequency)
            assert instance.frequencies.sum() == pytest.approx(1)


def test_simpler_is_smaller_or_as_small() -> None:
    generator = np.random.default_rng(0)
    for _ in range(20):
        instance = SPACE.draw(generator)
        simpler = list(SPACE.simpler(instance))
        assert all(SPACE.size(other) <= SPACE.size(instance) for other in simpler)
        for other in simpler:
            assert other.log_frequency is None or len(other.log_frequency) == len(
                other.data.samples
            )


def test_what_nobody_means_and_what_does_not_matter() -> None:
    idle = Dataset.from_sentences("idle", ["ab", "ba"])
    useful = Dataset.from_sentences("useful", ["aba", "ba"])
    assert SPACE.degenerate(idle) is not None
    assert SPACE.degenerate(useful) is None
    assert [name for name, _ in SPACE.changes(useful)] == [
        "how often each sample occurs",
        "which orthonormal family it is",
    ]


def test_a_zero_embedding_is_degenerate_and_a_limit_has_its_doubt() -> None:
    plain, general = dataset("counts"), dataset("general")
    assert general.embeddings is not None
    zero = general.embeddings.copy()
    zero[1] = 0.0
    assert SPACE.degenerate(replace(general, embeddings=zero)) == "an embedding is 0"
    assert SPACE.degenerate(general) is None
    solution = general.attention_margin
    assert solution.norm is not None
    assert SPACE.doubt(general) == solution.error_bound / solution.norm > 0
    assert SPACE.doubt(plain) == 0


@pytest.mark.parametrize(("error", "orthonormal"), [(1e-12, True), (1e-8, False), (1e-5, False)])
def test_orthonormal_means_up_to_rounding(error: float, orthonormal: bool) -> None:
    plain = dataset("counts")
    assert replace(plain, embeddings=np.eye(plain.K) * (1 + error)).orthonormal is orthonormal
