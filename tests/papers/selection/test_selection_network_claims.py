"""Section 3.3 and Appendix C: default verdicts, users' plans, and the figure."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lemmata._plain import plain
from lemmata.claims import Bench, Status, Verdict, check, claims_of
from lemmata.drawing import COLUMN_WIDTH
from lemmata.papers.selection.claims import construction, networks, separation, worst_case
from lemmata.papers.selection.experiments.separation import TRAINED, NetTrainings
from lemmata.papers.selection.figures import _expressivity
from lemmata.papers.selection.setting import (
    Plan,
    Task,
    inner_products,
    misled_encodings,
    tight_encodings,
    walsh,
)

MODULES = (networks, worst_case, construction, separation)
CLAIMS = {claim.name.removeprefix("selection/"): claim for claim in claims_of(MODULES)}

FALSE = {
    "theorem-c.2/proof": "constant",
    "theorem-c.3/interval": "misprint",
    "theorem-c.3/lower-bound": "constant",
    "theorem-c.3/pairwise": "constant",
    "equation-8/printed": "misprint",
    "theorem-c.3/width": "misprint",
}
"""What sort of failure each is; all others hold."""


@pytest.fixture(scope="module")
def bench() -> Bench:
    """With fewer trained nets than usual."""
    bench = Bench(seed=0)
    few = replace(TRAINED, training=NetTrainings(widths=(2, 4, 5)))
    bench._evidence[bench.bind(TRAINED)] = bench.evidence(few)
    return bench


@pytest.fixture(scope="module")
def verdicts(bench: Bench) -> dict[str, Verdict]:
    return {name: check(claim, bench) for name, claim in CLAIMS.items()}


@pytest.mark.parametrize("name", CLAIMS)
def test_default_verdicts(verdicts: dict[str, Verdict], name: str):
    verdict = verdicts[name]
    assert verdict.status is (Status.FAILS if name in FALSE else Status.HOLDS), verdict.reason
    assert verdict.kind == FALSE.get(name)
    assert verdict.status is Status.HOLDS or verdict.witness


def test_every_statement_has_a_claim():
    numbers = ("theorem-3.5", "theorem-c.1", "theorem-c.2", "theorem-c.3", "equation-8")
    assert {*numbers, "section-3.3"} <= set(CLAIMS)
    assert all(claim.name.startswith("selection/") for claim in CLAIMS.values())


def witness(verdict: Verdict) -> dict:
    assert verdict.witness is not None
    return verdict.witness


def test_the_proof_of_theorem_c2_proves_less(verdicts: dict[str, Verdict]):
    """Its pair forces 1/(4q^2), which is below 1/(2q) for every q; here q = 1 is the worst."""
    verdict = verdicts["theorem-c.2/proof"]
    assert (witness(verdict)["left"], witness(verdict)["right"]) == (1 / 4, 1 / 2)
    assert verdict.instance is not None
    assert verdict.instance["q"] == 1


def one_of(case: construction.Encoded, name: str) -> Verdict:
    """The verdict on one plan alone."""
    return check(CLAIMS[name], Bench(instances=[case.plan]))


@pytest.fixture(scope="module")
def mild(bench: Bench) -> construction.Encoded:
    """T = 20, q = 3, epsilon = 1/2 with one-hot encodings: alpha is 15."""
    return bench.evidence(construction.ENCODED).cases[0]


def test_the_step_of_theorem_c3_with_numbers(mild: construction.Encoded):
    """Both sides are far from rounding."""
    found = witness(one_of(mild, "theorem-c.3/lower-bound"))
    left = 1 / 3 - np.exp(15) / (3 * np.exp(15) + 17 * np.exp(7.5))
    assert np.exp(found["left"]) == pytest.approx(left, rel=1e-9)
    assert np.exp(found["right"]) == pytest.approx(20 / 9 * np.exp(-15), rel=1e-12)


def test_the_interval_of_theorem_c3_with_numbers(mild: construction.Encoded):
    """The weight is 1/(3 + 17 e^-15), just below 1/3."""
    missed = np.exp(witness(one_of(mild, "theorem-c.3/interval"))["left"])
    assert (1 - missed) / 3 == pytest.approx(1 / (3 + 17 * np.exp(-15)), rel=1e-12)


def test_theorem_c3_asks_for_an_error_below_that_of_zero():
    """128 vectors with inner products 1/2: the alpha of epsilon = 1.39 leaves 1.3987."""
    signs = np.concatenate([np.ones((128, 128)), walsh(7)])
    plan = Plan("half-way", Task(128, 1, 1), 1.0, 1.39, 256, 1.0, signs / 16)
    case = construction.encode(plan)
    others = 127 * np.exp(-np.ceil(2 * np.log(256) / 1.39) / 2)
    assert case.attention().worst_error.max() == pytest.approx(2 * others / (1 + others))
    assert 2 * others / (1 + others) > 1.39
    assert one_of(case, "theorem-c.3").status is Status.UNDECIDED


def test_equal_widths(verdicts: dict[str, Verdict], bench: Bench):
    found = bench.evidence(separation.SEPARATIONS).cases[-1]
    assert found.width == 175
    assert found.floor(175) == pytest.approx(1.361180904522613, rel=1e-12)
    assert found.loss < 1e-6


def test_the_transformer_of_section_4(bench: Bench):
    """The stored run ends at a loss of .00119 with the 1/2, the mean field at .00114."""
    (found,) = bench.evidence(separation.TRAINED_TRANSFORMER)
    assert found.loss == pytest.approx(2 * 0.00114, rel=0.03)
    assert found.alpha == pytest.approx(1.2040, abs=0.003)
    assert pytest.approx(6.0916, abs=0.02) == found.C
    assert found.narrowest_better == 999


def user(T: int, q: int, d: int, **how) -> Bench:
    return Bench(instances=[Plan("mine", Task(T, q, d), 0.01, how.pop("epsilon", 0.1), **how)])


@pytest.fixture(scope="module")
def mine() -> Bench:
    return user(9, 2, 3)


@pytest.mark.parametrize("name", sorted(set(CLAIMS) - set(FALSE)))
def test_the_users_task_replaces_ours(mine: Bench, name: str):
    verdict = check(CLAIMS[name], mine)
    if name in ("own/trained-net", "own/full-width-floor"):
        assert verdict.status is Status.INAPPLICABLE
        assert "its own instances" in verdict.reason
        return
    assert verdict.status is Status.HOLDS, verdict.reason


def test_all_positions_chosen():
    """Theorem 3.5 then says that losses are not negative, which excludes nothing."""
    bench = user(4, 4, 2)
    assert check(CLAIMS["theorem-3.5"], bench).status is Status.VACUOUS
    for name in ("own/worst-case-width", "section-3.3", "theorem-c.3/interval"):
        verdict = check(CLAIMS[name], bench)
        assert verdict.status is Status.INAPPLICABLE
        assert "q < T" in verdict.reason


def test_one_position():
    verdict = check(CLAIMS["theorem-3.5"], user(1, 1, 3))
    assert verdict.status is Status.INAPPLICABLE
    assert "0/0" in verdict.reason


def test_what_is_too_large():
    bench = user(4_000, 3, 1)
    for name in set(CLAIMS) - {"own/trained-net", "own/full-width-floor"}:
        verdict = check(CLAIMS[name], bench)
        assert verdict.status is Status.INAPPLICABLE, name
        assert "too large" in verdict.reason or "too many" in verdict.reason


def test_a_large_error_needs_no_attention():
    """An error of 1 is that of predicting zero."""
    assert check(CLAIMS["theorem-c.3"], user(9, 2, 1, epsilon=1.0)).status is Status.VACUOUS


@pytest.mark.parametrize(
    ("name", "assumption"),
    [("theorem-c.3", "1/2 off y"), ("own/least-scale", "< 1 off y")],
)
def test_misleading_encodings(name: str, assumption: str):
    bench = user(6, 5, 1, d_e=96, encodings=misled_encodings())
    verdict = check(CLAIMS[name], bench)
    assert verdict.status is Status.INAPPLICABLE
    assert assumption in verdict.reason
    assert check(CLAIMS["theorem-c.3/pairwise"], bench).status is Status.FAILS


def test_wide_transformers_are_not_compared():
    verdict = check(CLAIMS["section-3.3"], user(3, 2, 1, d_e=16, encodings=tight_encodings()))
    assert verdict.status is Status.INAPPLICABLE
    assert "width 17 is not below T d = 3" in verdict.reason


def test_pairwise_bounds_on_the_users_encodings():
    """2/3 exceeds 1/2, and attains the repaired bound."""
    bench = user(3, 2, 1, d_e=16, encodings=tight_encodings())
    assert inner_products(tight_encodings(), np.array([[0, 1]]))[0, 2] == pytest.approx(2 / 3)
    assert check(CLAIMS["theorem-c.3/pairwise"], bench).status is Status.FAILS
    repaired = check(CLAIMS["theorem-c.3/pairwise-repaired"], bench)
    assert repaired.status is Status.HOLDS
    assert repaired.margin == pytest.approx(0, abs=1e-12)


def test_the_figure(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_expressivity, "WIDTHS", (5, 175, 999))
    drawing = _expressivity.draw(bench)
    assert drawing.picture.get_size_inches()[0] == COLUMN_WIDTH
    json.dumps(plain(drawing.numbers), allow_nan=False)
    drawing.picture.draw_without_rendering()
    for words in ("at least 1.361 of the 1.667", "at least 999 neurons", "d + d_e = 175"):
        assert words in drawing.caption
    for row in drawing.numbers["explicit"]:
        assert abs(row["loss"] - row["law"]) < 4 * row["standard error"]
    assert [row["law"] for row in drawing.numbers["trained"]] == pytest.approx([0.225, 0.075, 0])
