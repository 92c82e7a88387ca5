"""Every claim on its default experiment, and on small data whose verdicts are known by hand."""

from dataclasses import replace

import numpy as np
import pytest
from few_trials import FewTrials
from flint import ctx

from lemmata._errors import InputError
from lemmata.claims import Bench, Claim, Kind, Status, Verdict, check, judge
from lemmata.papers import papers
from lemmata.papers.mechanics import experiments
from lemmata.papers.mechanics.counterexamples import cycle_above_last
from lemmata.papers.mechanics.experiments import Followed
from lemmata.papers.mechanics.setting import Dataset, Training
from lemmata.settings import Evidence

CLAIMS: dict[str, Claim] = {
    claim.name.removeprefix("mechanics/"): claim for claim in papers()["mechanics"].claims
}

FALSE = {
    "definition-1": Kind.MISPRINT,
    "lemma-1": Kind.HYPOTHESIS,
    "lemma-1/proof": Kind.CONSTANT,
    "theorem-1": Kind.HYPOTHESIS,
    "theorem-2": Kind.HYPOTHESIS,
    "theorem-3": Kind.HYPOTHESIS,
    "equation-3": Kind.HYPOTHESIS,
    "lemma-4": Kind.HYPOTHESIS,
    "equation-13": Kind.CONSTANT,
    "equation-19": Kind.MISPRINT,
    "equation-21": Kind.CONSTANT,
    "equation-29/everywhere": Kind.CONSTANT,
    "lemma-6/proof": Kind.MISPRINT,
    "theorem-3/last-display": Kind.CONSTANT,
    "section-6/pseudo-graph": Kind.CONSTANT,
    "figure-5": Kind.SUBSTANCE,
    "figure-5/literal": Kind.MISPRINT,
    "assumption-1": Kind.HYPOTHESIS,
    "footnote-2/cross-entropy": Kind.HYPOTHESIS,
    "section-4.1/accuracy": Kind.SUBSTANCE,
    "section-4.2/decomposition": Kind.CONSTANT,
    "lemma-1/sign": Kind.MISPRINT,
    "lemma-3/equality": Kind.MISPRINT,
    "lemma-4/where-attention-goes": Kind.MISPRINT,
    "lemma-4/attention-other": Kind.CONSTANT,
    "lemma-4/attention-best": Kind.CONSTANT,
    "lemma-4/excess-other": Kind.CONSTANT,
    "lemma-4/excess-best": Kind.CONSTANT,
    "lemma-7/removed": Kind.MISPRINT,
    "equation-20/signed": Kind.MISPRINT,
    "theorem-3/late-iterates": Kind.HYPOTHESIS,
    "theorem-3/late-iterates/everywhere": Kind.HYPOTHESIS,
    "section-6/identity-head": Kind.SUBSTANCE,
    "appendix-d/frequent": Kind.SUBSTANCE,
}
UNDECIDED = {
    "equation-2",
    "equation-34",
    "theorem-3/repaired",
    "own/infeasible-direction",
    "own/local-limit",
    "figure-3",
    "figure-6",
    "appendix-d/distances",
    "section-6/squared-loss",
}
"""Runs too short for a limit, and 24 trials that are too few for a mean or a share."""


@pytest.fixture(scope="module")
def bench() -> Bench:
    return FewTrials(seed=0)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return {}


def judged(bench: Bench, verdicts: dict[str, Verdict], name: str) -> Verdict:
    if name not in verdicts:
        verdicts[name] = check(CLAIMS[name], bench)
    return verdicts[name]


@pytest.mark.parametrize("name", CLAIMS)
def test_default_verdicts(bench: Bench, verdicts: dict[str, Verdict], name: str):
    verdict = judged(bench, verdicts, name)
    expected = (
        Status.FAILS if name in FALSE else Status.UNDECIDED if name in UNDECIDED else Status.HOLDS
    )
    assert verdict.status is expected, verdict.reason
    assert verdict.kind is FALSE.get(name)
    assert verdict.witness or name in ("lemma-7", "own/infeasible-direction")


def test_every_number_has_a_claim():
    for number in (*range(1, 8),):
        assert f"lemma-{number}" in CLAIMS
    for number in (*range(1, 5),):
        assert f"theorem-{number}" in CLAIMS
    for number in (*range(1, 4),):
        assert f"definition-{number}" in CLAIMS
    for number in range(1, 36):
        assert f"equation-{number}" in CLAIMS


def test_only_what_is_known_to_fail_has_a_kind():
    assert {name for name, claim in CLAIMS.items() if claim.kind is not None} == set(FALSE)


@pytest.mark.parametrize(
    ("name", "part", "cosine"),
    [
        ("theorem-1", "1 − corr, the flat loss with the given head", np.sqrt(3) / 2),
        ("theorem-2", "1 − corr, −u", 0.5),
        ("theorem-2", "1 − corr, the squared loss with the identity head", 11 / np.sqrt(133)),
    ],
)
def test_paths_of_other_losses_turn_elsewhere(bench, verdicts, name, part, cosine):
    """The limits follow from the slowest decay: maximise it on the unit sphere by hand."""
    verdict = judged(bench, verdicts, name)
    (judgement,) = (p for p in verdict.parts if p.part == part)
    assert judgement.status is Status.FAILS
    assert judgement.witness is not None
    assert 1 - judgement.witness["extrapolated"] == pytest.approx(cosine, abs=5e-4)


def test_a_large_step_alternates(bench, verdicts):
    """λ = 4/9 on S_cyc, so steps above 4.5 never settle."""
    parts = {p.part: p for p in judged(bench, verdicts, "theorem-3").parts}
    alternating = parts["(3) with η = 5"]
    assert alternating.status is Status.FAILS
    assert alternating.witness is not None
    assert 0.5 < alternating.witness["left"] < 0.9


@pytest.mark.parametrize(("rate", "repelled"), [(4.4, False), (4.6, True)])
def test_a_large_step_is_proved_to_be_too_large(rate, repelled):
    exact = CLAIMS["equation-3"].exact
    assert exact is not None
    old, ctx.prec = ctx.prec, 320
    product = exact(cycle_above_last(), {"rate": rate}).left[0]
    ctx.prec = old
    assert float(product.mid()) == pytest.approx(rate * 4 / 9, rel=1e-12)
    assert (product > 2) is repelled


def test_where_descent_stands_it_is_not_proved_to_run_away():
    """Balanced ties from zero: W^cyc is 0, and the gradient inside S_cyc is 0 at every step."""
    tie = _dataset(["abc", "bac"], ["a", "b"])
    exact = CLAIMS["equation-3"].exact
    assert exact is not None
    assert exact(tie, {"rate": 100.0}).left[0] == 0


def test_a_limit_far_away_is_not_called_wrong():
    """The second sample is so rare that descent has not seen it: nothing is known of the limit."""
    rare = Dataset.from_sentences("rare", {"a b c a": 10**12, "b c b": 1, "a b c b": 10})
    for name in ("theorem-3/repaired", "equation-34"):
        verdict = check(CLAIMS[name], Bench(instances=[rare], options={"steps": 2_000}))
        assert verdict.status is Status.UNDECIDED


@pytest.mark.parametrize(
    "name",
    [
        *("lemma-1/repaired", "theorem-1/radius", "equation-16", "equation-19/repaired"),
        *("equation-22", "lemma-6", "own/lemma-6-sharp", "own/tight-lipschitz", "equation-28"),
        *("lemma-3", "lemma-4/repaired", "theorem-2/repaired", "own/flow"),
    ],
)
def test_verdicts_do_not_depend_on_the_scale_of_embeddings(name):
    plain = _dataset(["abc", "bc", "cab"], ["a", "b", "a"])
    draw = np.random.default_rng(3).standard_normal((3, 4))
    verdicts = {
        scale: check(CLAIMS[name], Bench(instances=[replace(plain, embeddings=scale * draw)]))
        for scale in (1.0, 1e4, 1e-4)
    }
    assert {verdict.status for verdict in verdicts.values()} == {Status.HOLDS}, verdicts


def test_step_29_fails_by_the_gap_of_the_direction(bench, verdicts):
    """On the path −∇L is parallel to W, so the two sides differ by 1 − corr."""
    witness = judged(bench, verdicts, "equation-29/everywhere").witness
    assert witness is not None
    paths: Evidence[Followed] = bench.evidence(experiments.PATHS)
    case = paths.cases[paths.names.index(witness["dataset"])]
    dataset = case.instance
    W = case.weights[int(np.searchsorted(paths.records, witness["t"]))].ravel()
    free = W - (W @ dataset.tied_basis.T) @ dataset.tied_basis
    corr = free @ dataset.target.ravel() / np.linalg.norm(free) / dataset.norm
    assert witness["left"] == pytest.approx(corr, rel=1e-9)
    assert witness["right"] == pytest.approx(1.0, rel=1e-12)


def test_a_wrong_limit_is_noticed(bench: Bench):
    """Distances that stop short of W^cyc, and a direction two degrees off."""
    descent: Evidence[Dataset] = bench.evidence(experiments.LONG_DESCENT)
    paths: Evidence[Followed] = bench.evidence(experiments.PATHS)
    apart = {"cyclic_distance": descent.cyclic_distance + 0.01}
    (limit,) = CLAIMS["equation-3"].compare(replace(descent, columns={**descent.columns, **apart}))
    assert judge(limit, descent).status is Status.FAILS
    turned = {"one_minus_correlation": paths.one_minus_correlation + 1 - np.cos(np.pi / 90)}
    limit, _ = CLAIMS["theorem-2"].compare(replace(paths, columns={**paths.columns, **turned}))
    assert judge(limit, paths).status is Status.FAILS


def _dataset(sequences: list[str], labels: list[str]) -> Dataset:
    return Dataset.from_samples("mine", [list(s) for s in sequences], labels)


def test_the_users_data_alone_is_judged():
    """On acyclic data no witness of ours counts, and Theorem 1 holds."""
    bench = Bench(instances=[_dataset(["abc", "bc"], ["a", "b"])])
    verdict = check(CLAIMS["theorem-1"], bench)
    assert verdict.status is Status.HOLDS
    assert verdict.experiment.startswith("your data: mine; ")
    assert check(CLAIMS["figure-3"], bench).status is Status.INAPPLICABLE


def test_broken_assumptions_are_named():
    cyclic = Bench(instances=[_dataset(["abc", "bac"], ["a", "b"])])
    verdict = check(CLAIMS["theorem-1"], cyclic)
    assert verdict.status is Status.INAPPLICABLE
    assert "Definition 2" in verdict.reason
    unrealizable = Bench(instances=[_dataset(["ab"], ["c"])])
    verdict = check(CLAIMS["theorem-3"], unrealizable)
    assert verdict.status is Status.INAPPLICABLE
    assert "Assumption 2" in verdict.reason


def test_a_gradient_that_no_float_holds_is_not_taken_for_zero():
    """At logits of 1,000 it is e^-1000; Theorem 4 says that it is not 0."""
    mine = _dataset(["abc", "bc"], ["a", "b"])
    certain = replace(mine, initial_weights=1000.0 * mine.W_mm)
    bench = Bench(instances=[certain], options={"steps": 30})
    evidence: Evidence[Dataset] = bench.evidence(experiments.LONG_DESCENT)
    assert -2000 < evidence.log_gradient_norm.max() < -800
    verdict = check(CLAIMS["theorem-4"], bench)
    assert not [part for part in verdict.parts if part.status is Status.FAILS]


def test_a_direction_that_is_exact_in_the_end_has_no_logarithmic_rate():
    """a and b balance, c is below both: W is a multiple of W^mm but for a part like 1/t."""
    mine = _dataset(["abc", "abc", "bc"], ["a", "b", "b"])
    assert mine.correction.norm < 1e-12
    bench = Bench(instances=[mine])
    evidence: Evidence[Dataset] = bench.evidence(experiments.LONG_DESCENT)
    off = evidence.norm * np.sqrt(evidence.one_minus_correlation)
    tenth = np.searchsorted(evidence.records, evidence.records[-1] / 10)
    assert off[0, -1] == pytest.approx(off[0, tenth] / 10, rel=0.2)
    verdict = check(CLAIMS["own/descent-rate"], bench)
    assert verdict.status is Status.UNDECIDED
    assert "there is no rate to see" in verdict.reason


def test_large_vocabularies_are_refused_in_words():
    words = [f"w{i}" for i in range(300)]
    large = Dataset.from_samples("large", [[word, "q"] for word in words], words)
    with pytest.raises(InputError, match="at most 200"):
        check(CLAIMS["lemma-2"], Bench(instances=[large]))


def test_options_change_the_training_and_what_is_said_of_it():
    mine = _dataset(["abc", "bc"], ["a", "b"])
    bench = Bench(instances=[mine], options={"steps": 30, "rate": 0.5})
    evidence: Evidence[Dataset] = bench.evidence(experiments.DESCENT)
    assert evidence.records[-1] == 30
    assert evidence.rate.tolist() == [[0.5]]
    assert "30 steps of 0.5" in check(CLAIMS["lemma-5"], bench).experiment
    with pytest.raises(InputError, match="trains nothing"):
        check(CLAIMS["lemma-2"], bench)


def test_experiments_say_what_they_run():
    long = experiments.LONG_DESCENT
    assert "6 random cyclic datasets (K = 6, d = 8, n = 6, T = 4) with W^cyc != 0" in long.says
    assert "gradient descent on W, 100,000 steps of 1/L (the tight constant)" in long.says
    assert "1,000,000 steps" in Bench(scale="paper").bind(long).says
    few = replace(long, training=Training(steps=7))
    assert "normalized gradient descent on W, 7 steps of 0.01 on the log loss" in few.says


def test_instances_depend_on_the_seed_alone():
    for source in (experiments.SAMPLE.instances, experiments.INFEASIBLE.instances):
        first, again, other = (source.draw(seed, "quick") for seed in (5, 5, 6))
        assert [d.data for d in first] == [d.data for d in again]
        assert [d.data for d in first] != [d.data for d in other]
    assert all(not d.feasible for d in experiments.INFEASIBLE.instances.draw(0, "quick"))
    assert all(d.correction.norm > 1e-6 for d in experiments.ORBIT.instances.draw(0, "quick"))
