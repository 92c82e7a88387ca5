"""Claims about the experiments: on made-up runs whose verdicts are known, and on real ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.online import (
    SIZES,
    as_reported,
    both_learn,
    falling,
    made_up_followed,
    made_up_mean_field,
    made_up_pairs,
    made_up_plan,
    stuck,
    swapped,
)
from oracles.sparse_selection import FACTS, subset_vector

from lemmata.claims import Bench, Claim, Status, check, claims_of
from lemmata.papers.selection.claims import findings, observations
from lemmata.papers.selection.claims import heat_maps as heat_map_claims
from lemmata.papers.selection.experiments import (
    endings,
    ensembles,
    heat_maps,
    mean_fields,
    runs,
    switched_encodings,
)
from lemmata.papers.selection.experiments.batches import Batches
from lemmata.papers.selection.experiments.ensembles import Rivals
from lemmata.papers.selection.experiments.heat_maps import HeatMap
from lemmata.papers.selection.experiments.mean_fields import Forecast
from lemmata.papers.selection.experiments.plans import Plans
from lemmata.papers.selection.experiments.runs import Starts
from lemmata.papers.selection.experiments.switched_encodings import Switched
from lemmata.papers.selection.setting import (
    Plan,
    Task,
    Training,
    near_orthogonal,
    near_orthogonal_family,
)
from lemmata.settings import Evidence

CLAIMS: dict[str, Claim] = {
    claim.name.removeprefix("selection/"): claim
    for claim in claims_of([observations, heat_map_claims, findings])
}

HOLDS, FAILS, UNDECIDED = Status.HOLDS, Status.FAILS, Status.UNDECIDED


def judge(name: str, evidence: Any, **others: Any) -> Status:
    """The verdict on given evidence."""
    rivals = Evidence((others.get("rivals", _rivals(0)),))
    bench = _bench({CLAIMS[name].experiment: evidence, ensembles.RIVALS: rivals})
    verdict = check(CLAIMS[name], bench)
    if verdict.status is FAILS:
        assert verdict.witness
    return verdict.status


def _bench(made_up: dict[Any, Any]) -> Bench:
    """A bench on which these experiments have been run."""
    bench = Bench()
    bench._evidence |= {bench.bind(experiment): found for experiment, found in made_up.items()}
    return bench


def _rivals(count: int) -> Rivals:
    inner = np.array([1.05, *np.zeros(10)]) if count else None
    plan = Plan("q = 8", Task(200, 8, 5), 1.0, 1e-3, d_e=170)
    return Rivals(plan, 10_000, count, {"y": [0]} if count else None, inner)


LONG = replace(SIZES, steps=runs.PAPER.steps, every=2_000, change=runs.PAPER.steps)
"""As many steps as the paper's."""


def _starts(law: Any = as_reported, *, adam: bool = False) -> Evidence[Starts]:
    zero = made_up_pairs(adam=adam)
    random = made_up_pairs(law, adam=adam, spread=True)
    return Evidence(tuple(Starts(a.name, a, b) for a, b in zip(zero, random, strict=True)))


def _batches(law: Any = as_reported) -> Evidence[Batches]:
    both = zip(made_up_pairs(), made_up_pairs(law, noise=0.003), strict=True)
    return Evidence(tuple(Batches(a.name, a, b) for a, b in both))


def late_start(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Twice as bad in the middle of the run, and the same at its end."""
    return as_reported(arm, T, q, x) * np.where(np.abs(x - 0.5) < 0.1, 2.0, 1.0)


def rising_again(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Five times as bad in the end as at its best."""
    return as_reported(arm, T, q, x) * np.where(x > 0.6, 20.0, 1.0)


def twice_as_bad(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    return 2 * as_reported(arm, T, q, x)


def slower(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """Fixed encodings are five times as bad at other lengths, but go to 0 as well."""
    return as_reported("stochastic", T, q, x) * (5 if arm == "fixed" and T > SIZES.T else 1)


def flat_in_q(arm: str, T: int, q: int, x: np.ndarray) -> np.ndarray:
    """With fixed encodings the loss, not its share of d/(2q), is the same for all q."""
    return as_reported(arm, T, SIZES.q, x) * (q / 3)


@pytest.mark.parametrize(
    ("name", "evidence", "expected"),
    [
        ("figure-1", made_up_pairs(), HOLDS),
        ("figure-1", made_up_pairs(training=lambda x: np.exp(-6 * x)), FAILS),
        ("figure-1", made_up_pairs(training=lambda x: np.maximum(0.2, falling(x))), FAILS),
        ("figure-1", made_up_pairs(cosine=0.99), FAILS),
        ("figure-1", made_up_pairs(seeds=1), UNDECIDED),
        ("figure-2", made_up_pairs(), HOLDS),
        ("figure-2", made_up_pairs(both_learn), FAILS),
        ("figure-2", made_up_pairs(stuck), FAILS),
        ("figure-2", made_up_pairs(slower), FAILS),
        ("figure-4/subsets/repaired", made_up_pairs(), HOLDS),
        ("figure-4/subsets/repaired", made_up_pairs(swapped), FAILS),
        ("figure-4/subsets/repaired", made_up_pairs(both_learn, noise=0.1), UNDECIDED),
        ("figure-4/subsets-increasing", made_up_pairs(), HOLDS),
        ("figure-4/subsets-increasing", made_up_pairs(flat_in_q), UNDECIDED),
        ("figure-5", made_up_pairs(adam=True), UNDECIDED),
        ("figure-5", made_up_pairs(adam=True, size=LONG), HOLDS),
        ("figure-5", made_up_pairs(slower, adam=True, size=LONG), FAILS),
        ("figure-5", made_up_pairs(swapped, adam=True), FAILS),
        ("figure-5", made_up_pairs(both_learn, adam=True), FAILS),
        ("own/adam-forgets", made_up_pairs(slower, adam=True), UNDECIDED),
        ("own/adam-forgets", made_up_pairs(slower, adam=True, size=LONG), HOLDS),
        ("own/adam-forgets", made_up_pairs(rising_again, adam=True, size=LONG), FAILS),
        ("figure-6", _starts(), HOLDS),
        ("figure-6", _starts(twice_as_bad), FAILS),
        ("figure-6/dynamics", _starts(), HOLDS),
        ("figure-6/dynamics", _starts(late_start), FAILS),
        ("appendix-f/batch-size", _batches(), UNDECIDED),
        ("appendix-f/batch-size", _batches(twice_as_bad), FAILS),
        ("appendix-f.1/annealing", made_up_pairs(), HOLDS),
        ("appendix-f.1/annealing", made_up_pairs(rising_again), FAILS),
        ("figure-7", _starts(adam=True), HOLDS),
        ("figure-7", _starts(twice_as_bad, adam=True), FAILS),
        ("appendix-f/in-distribution", made_up_pairs(), HOLDS),
        ("appendix-f/in-distribution", made_up_pairs(stuck), FAILS),
        ("own/mean-field", made_up_followed(made_up_pairs(noise=0.002)), HOLDS),
        ("own/mean-field", made_up_followed(made_up_pairs(noise=0.01)), UNDECIDED),
        ("own/mean-field", made_up_followed(made_up_pairs(noise=0.3)), FAILS),
    ],
)
def test_made_up_runs_are_judged_by_what_they_are(name, evidence, expected):
    assert judge(name, evidence) is expected


def test_a_run_that_diverged_is_set_aside():
    good, bad = made_up_pairs(), made_up_pairs(diverged=17)
    for arm in ("stochastic", "fixed"):
        pairs = [
            replace(whole, **{arm: broken.run(arm)})
            for whole, broken in zip(good, bad, strict=True)
        ]
        verdict = check(CLAIMS["figure-2"], _bench({runs.SGD: Evidence(tuple(pairs))}))
        assert verdict.status is Status.INAPPLICABLE
        assert f"blew up at step 17 (seed 0, {arm} encodings)" in verdict.reason


def _switched(share: float, error: float, **other: float) -> Evidence[Switched]:
    found = {"own": 0.01, "fresh": 0.2, "stochastic": 0.01, "trained": 0.02, "level": 0.03} | other
    size = replace(SIZES, T=int(found.pop("T", SIZES.T)))
    first = Switched(
        made_up_plan("seed 0", size),
        found["own"],
        found["fresh"],
        found["stochastic"],
        {30: (0.75 * share, 0.75 * error), 40: (0.6, 0.01)},
        {30: found["trained"]},
        {30: 0.4},
        {30: found["level"]},
        0.75,
    )
    second = replace(
        first,
        plan=made_up_plan("seed 1", size),
        own=1.01 * first.own,
        trained={30: 1.01 * first.trained[30]},
        level={30: 1.01 * first.level[30]},
    )
    return Evidence((first, second))


@pytest.mark.parametrize(
    ("name", "evidence", "expected"),
    [
        ("figure-4/length", _switched(0.25, 0.01), UNDECIDED),
        ("figure-4/length", _switched(0.25, 0.01, T=200), HOLDS),
        ("figure-4/length", _switched(0.12, 0.01, T=200), FAILS),
        ("figure-4/length", _switched(0.17, 0.01, T=200), UNDECIDED),
        ("figure-4/length/repaired", _switched(0.14, 0.01), HOLDS),
        ("figure-4/length/repaired", _switched(0.02, 0.005), FAILS),
        ("appendix-e/switching", _switched(0.2, 0.01), HOLDS),
        ("appendix-e/switching", _switched(0.2, 0.01, fresh=0.05), FAILS),
        ("appendix-e/switching", _switched(0.2, 0.01, stochastic=0.1), FAILS),
        ("own/untrained-positions", _switched(0.2, 0.01), HOLDS),
        ("own/untrained-positions", _switched(0.2, 0.01, trained=0.3), FAILS),
        ("own/trained-advantage", _switched(0.2, 0.01), HOLDS),
        ("own/trained-advantage", _switched(0.2, 0.01, level=0.1), FAILS),
    ],
)
def test_ends_are_judged_run_by_run(name, evidence, expected):
    assert judge(name, evidence) is expected


def test_the_limit_at_unseen_sizes_is_refuted_by_a_rival():
    pairs = made_up_pairs()
    assert judge("figure-4/subsets", pairs) is HOLDS
    assert judge("figure-4/subsets", pairs, rivals=_rivals(3)) is FAILS


def test_convergence_after_10000_steps_is_not_a_yes_or_no():
    """The caption has no yardstick; the verdict says what the loss is at both times."""
    how = replace(runs.Online().of(runs.PAPER, "stochastic"), record=(0, 5_000, 10_000, 100_000))
    losses = {(T, 3): np.array([1.0, 0.5, 0.3, 0.1]) for T in (200, *runs.PAPER.lengths)}
    curve = replace(made_up_mean_field(how), losses=losses)
    lengths = replace(how, tests=tuple((T, 3) for T in runs.PAPER.lengths))
    forecast = Evidence((Forecast(made_up_plan("made up"), lengths, curve),))
    claim = CLAIMS["figure-2/converges-10k"]
    verdict = check(claim, _bench({claim.experiment: forecast}))
    assert verdict.status is UNDECIDED
    assert "0.3 to 0.3, 3 to 3 times" in verdict.reason


def _heat_map(left: float, name: str = "random") -> Evidence[HeatMap]:
    """Gaussian weights that die out but for the identities, with this much left at the end."""
    draw, d, d_e = np.random.default_rng(0), 3, 5
    first = draw.standard_normal((d, d + d_e)), draw.standard_normal((d + d_e, d + d_e))
    V, W = (np.stack([size * block for size in (1, 1, (1 + left) / 2, left)]) for block in first)
    V[:, :, :d] += 4 * np.array([0, 0.1, 0.5, 1])[:, None, None] * np.eye(d)
    W[:, d:, d:] += 4 * np.array([0, 0.1, 0.5, 1])[:, None, None] * np.eye(d_e)
    how = Training(Task(6, 2, d), d_e, threshold=1.0, steps=40)
    return Evidence((HeatMap(made_up_plan(name), how, (0, 1, 5, 40), V, W),))


def test_blocks_are_root_mean_squares():
    (found,) = _heat_map(0.05)
    W, V, d = found.W[-1], found.V[-1], 3
    assert found.C[-1] == pytest.approx(np.mean([W[i, i] for i in range(d, 8)]))
    off = [W[i, j] - (i == j) * found.C[-1] for i in range(d, 8) for j in range(d, 8)]
    known = np.sqrt(np.mean(np.square(off)))
    assert found.blocks["W position-position, off C I"][-1] == pytest.approx(known)
    corner = np.sqrt(sum(V[i, j] ** 2 for i in range(3) for j in range(3, 8)) / 15)
    assert found.blocks["V position"][-1] == pytest.approx(corner)
    for name, rows in {
        "W token-token": (range(3), range(3)),
        "W token-position": (range(3), range(3, 8)),
        "W position-token": (range(3, 8), range(3)),
    }.items():
        values = [W[i, j] ** 2 for i in rows[0] for j in rows[1]]
        assert found.blocks[name][-1] == pytest.approx(np.sqrt(np.mean(values)))


@pytest.mark.parametrize("query", ["zero", "fixed", "random"])
def test_heat_maps_are_judged_by_what_is_left(query):
    name = f"figure-3/{query}-query"
    assert judge(name, _heat_map(0.05, query)) is HOLDS
    assert judge(name, _heat_map(0.3, query)) is FAILS
    assert judge(name, _heat_map(0.05, "other")) is UNDECIDED


def test_the_scale_of_v_is_judged():
    (found,) = _heat_map(0.05)
    for scale, expected in ((1.0, HOLDS), (1.5, FAILS), (0.5, FAILS)):
        V = found.V * scale / found.alpha[-1]
        assert judge("section-4/scale-of-v", Evidence((replace(found, V=V),))) is expected
    assert judge("section-4/scale-of-v", _heat_map(0.05, "zero")) is UNDECIDED


def test_blocks_that_grow_again_are_seen():
    assert judge("figure-8", _heat_map(0.05)) is HOLDS
    assert judge("figure-8", _heat_map(1.3)) is FAILS


@pytest.fixture(scope="module")
def small() -> Bench:
    """Real experiments, made small; claims and tests find them under their usual names."""
    bench = Bench()
    half = {"steps": 3_000, "change": 3_000, "every": 150, "seeds": 2}
    fewer = replace(runs.QUICK, lengths=(60,), subset_sizes=(), **half)
    few = heat_maps.HeatPlans(6, 2, 4, 6, 0.9, 16, queries=("random",))
    short = heat_maps.HeatTraining(moments=(0, 4, 10), steps=40)
    usual = ensembles.ACCEPTED.instances
    assert isinstance(usual, Plans)
    smaller = {
        experiment: replace(experiment, instances=runs.OnlinePlans(fewer, fewer))
        for experiment in (runs.SGD, mean_fields.MEAN_FIELD, switched_encodings.SWITCHED)
    } | {
        heat_maps.HEAT_MAPS: replace(heat_maps.HEAT_MAPS, instances=few, training=short),
        ensembles.ACCEPTED: replace(ensembles.ACCEPTED, instances=Plans(usual.sizes[-1:])),
    }
    for experiment, reduced in smaller.items():
        bench._evidence[bench.bind(experiment)] = bench.evidence(reduced)
    return bench


def test_heat_maps_are_moments_of_one_run(small):
    """A fresh x_query moves all directions of the first d columns of W."""
    random = small.evidence(heat_maps.HEAT_MAPS).cases[-1]
    assert random.steps == (0, 4, 10, 40)
    moved = np.array([np.abs(W - random.W[0]).max() for W in random.W])
    assert moved[0] == 0
    assert (np.diff(moved) > 0).all()
    assert np.std(random.W[0]) == pytest.approx(6**-0.5, rel=0.3)
    columns = random.W[-1, :, :4] - random.W[0, :, :4]
    assert np.linalg.svd(columns, compute_uv=False).min() > 1e-3


def test_the_reduced_runs_agree_with_another_program(small):
    """Losses after 3,000 steps: means of two seeds against those of five."""
    for arm, known in FACTS["sgd_reduced_ci"].items():
        if arm == "setting":
            continue
        facts = known["3000"]
        ends = [pair.run(arm).task("population", 60, 2)[-1] for pair in small.evidence(runs.SGD)]
        mean, spread = facts["xfree_T60"]
        # Our own estimate has 1,024 subsets under four encodings, or under one.
        error = 4 * spread * np.sqrt(1 / 5 + 1 / 2) + 0.05 * mean
        assert np.mean(ends) == pytest.approx(mean, abs=error)
        scale = np.mean([pair.run(arm)["C"][-1] for pair in small.evidence(runs.SGD)])
        assert scale == pytest.approx(facts["C"][0], abs=5 * facts["C"][1])


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "figure-1": UNDECIDED,
        "figure-4/length/repaired": HOLDS,
        "appendix-f/in-distribution": UNDECIDED,
        "appendix-f/isometry": FAILS,
        "appendix-e/switching": UNDECIDED,
        "own/untrained-positions": HOLDS,
        "own/rivals": HOLDS,
        "own/mean-field": HOLDS,
        "own/jensen": HOLDS,
    }.items(),
)
def test_default_verdicts(small, name, expected):
    """Two seeds of half the usual length are too few for two limits and one factor."""
    verdict = check(CLAIMS[name], small)
    assert verdict.status is expected, verdict.reason
    if expected is FAILS:
        assert verdict.witness


def test_the_rival_is_one(small):
    """The witness, from the encodings it names, by least squares."""
    found = small.evidence(ensembles.RIVALS).cases[-1]
    E = near_orthogonal_family(ensembles.RIVAL_MEMBERS, 170, 200, 0.3, 0)
    assert found.first is not None
    member = int(found.first["encodings"].split("[")[1].rstrip("]"))
    e_y = subset_vector(E[member], found.first["y"])
    assert found.first["i"] not in found.first["y"]
    inner = float(E[member][:, found.first["i"]] @ e_y)
    assert inner == pytest.approx(found.first["<e_i, e_y>"], abs=1e-9)
    assert inner >= 1


def test_what_a_rival_costs():
    """The floor: the least error if the rival gets as much attention; the limit: if it gets all."""
    found = _rivals(100)
    x = np.linspace(0, 1, 100_001)
    least = np.min(8 * (1 / 8 - x) ** 2 + x**2)
    assert found.floor == pytest.approx(0.01 * 2.5 * least, rel=1e-6)
    target, attention = np.array([0.0, *np.full(8, 1 / 8)]), np.array([1.0, *np.zeros(8)])
    assert found.limit == pytest.approx(0.01 * 2.5 * np.sum((target - attention) ** 2))
    assert found.error == pytest.approx(np.sqrt(0.01 * 0.99 / 10_000))


def test_isometry_is_refuted_by_the_sets_it_names(small):
    (found,) = small.evidence(ensembles.ACCEPTED)
    E = near_orthogonal(170, 200, 0.3, found.seed)
    one, other = (E[:, list(rows)] for rows in found.measured.sets)
    assert not set(found.measured.sets[0]) & set(found.measured.sets[1])
    assert np.linalg.norm(one.T @ other, 2) == pytest.approx(found.measured.orthogonality)
    assert found.measured.orthogonality > 0.6 > 2 * np.abs(E.T @ E - np.eye(200)).max() - 0.01


def test_runs_are_those_of_the_paper():
    plain = runs.Online().of(runs.PAPER, "stochastic")
    assert (plain.algorithm, plain.rate, plain.later_rate, plain.change) == (
        "sgd",
        1,
        1 / 3,
        50_000,
    )
    assert plain.tests[:2] == ((250, 3), (300, 3))
    assert plain.tests[-1] == (200, 8)
    spread = runs.Online("adam", random_start=True).of(runs.PAPER, "fixed")
    assert (spread.algorithm, spread.rate, spread.later_rate) == ("adam", 1e-3, None)
    assert spread.initial == pytest.approx(175**-0.5)
    assert spread.longest == 400


def test_time_is_the_sum_of_step_sizes():
    size = replace(SIZES, change=500, later_rate=0.25)
    run = made_up_pairs(size=size).cases[0].stochastic
    time = endings.clock(run)
    assert time[0] == 0
    assert time[-1] == pytest.approx(500 + 125)
    power = np.where(time > 0, np.maximum(time, 1e-9), 1.0) ** -0.7
    assert endings.decay(run, power) == pytest.approx(0.7, abs=0.02)
    assert endings.decay(run, np.ones_like(time)) == 0
    wave = np.exp(-3 * time / time[-1])
    assert endings.decay(run, wave) == pytest.approx(3 * 0.7 / np.log(0.95 / 0.25), abs=0.03)


@pytest.mark.parametrize("name", [name for name in CLAIMS if CLAIMS[name].experiment.own])
def test_a_users_plan_says_nothing_about_figures(name):
    verdict = check(CLAIMS[name], Bench(instances=[object()]))
    assert verdict.status is Status.INAPPLICABLE
