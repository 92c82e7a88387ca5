"""What counts as a proof, and what does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import search_walks as walks
from search_walks import Setting, Walk

import lemmata as lm
from lemmata.claims import Claim, declared_by
from lemmata.search import Finding, Outcome
from lemmata.search._certify import certify
from lemmata.search._clock import Clock
from lemmata.search._hunt import LONG, Hunt
from lemmata.search._proofs import Proofs, read_back
from lemmata.search._score import try_all

SHORT = lm.experiment("mechanics", steps=40)
MECHANICS = lm.papers["mechanics"].setting
TILTED = lm.mechanics.Dataset.from_samples("tilted", [["a", "b"]], ["a"])
PAIR = lm.mechanics.Dataset.from_samples("pair", [["b", "a"], ["a", "b", "a"]], ["a", "b"])


def claim_of(check: Any) -> Claim:
    (claim,) = declared_by(check)
    return claim


def proof(check: Any, instance: Any) -> Any:
    claim, space = claim_of(check), MECHANICS.space
    assert space is not None
    (attempt,) = try_all(claim, [instance], {}, 0)
    assert attempt.broken
    return certify(claim, space, attempt, lambda case: read_back(MECHANICS, case))


def test_a_statement_about_the_end_is_proved_at_the_end() -> None:
    @lm.claim("the path is short", setting="mechanics", on=SHORT)
    def short(run):
        return lm.at_most(run.norm[:, -1], 0.3)

    found = proof(short, TILTED)
    assert found.proved
    assert found.says.endswith("up to step 40")


def test_a_statement_about_every_record_is_proved_where_it_breaks_first() -> None:
    @lm.claim("the norm stays small", setting="mechanics", on=SHORT)
    def small(run):
        return lm.at_most(run.norm, 0.05)

    found = proof(small, TILTED)
    assert found.proved
    assert found.says.endswith("up to step 7")


def test_functions_that_balls_do_not_have_are_taken_in_floating_point() -> None:
    @lm.claim("the median is small", setting="mechanics", on=SHORT)
    def median(run):
        return lm.at_most(np.median(run.norm, axis=1), 0.05)

    found = proof(median, TILTED)
    assert found.proved
    assert "numpy.median is not written for balls" in found.says
    assert "in floating point" in found.says


def test_later_steps_are_all_that_a_statement_speaks_of() -> None:
    """The norm is below t / 200 nowhere, and above 0.3 from step 31 on."""

    @lm.claim("from 20 on", setting="mechanics", on=SHORT)
    def late(run):
        return lm.at_most(run.norm, 0.3, from_step=20)

    @lm.claim("the norm falls below 0.15 early", setting="mechanics", on=SHORT)
    def early(run):
        return lm.at_least(run.norm, 0.3, from_step=20)

    assert proof(late, TILTED).proved
    assert proof(early, TILTED).proved
    assert "up to step 40" in proof(late, TILTED).says


def test_rounding_is_no_proof() -> None:
    """One step of 0.01 has length 0.01 exactly; the sum of forty has not in floating point."""

    @lm.claim("the norm is the path", setting="mechanics", on=SHORT)
    def path(run):
        return lm.at_most(run.norm * (1 + 1e-12), run.steps * run.rate)

    found = proof(path, TILTED)
    assert found.proved  # a relative 1e-12 is more than any rounding of 320 bits

    @lm.claim("W^mm is as long as fractions say", setting="mechanics", on="instances")
    def length(data):
        return lm.equal(data.each(lambda d: d.norm), np.sqrt(0.5) * (1 + 1e-11))

    assert not proof(length, TILTED).proved


def test_what_an_instance_does_not_know_better_proves_nothing() -> None:
    E = np.array([[1.0, 0.3], [0.2, 1.0]])
    general = lm.mechanics.Dataset("general", TILTED.data, E)
    space = MECHANICS.space
    assert space is not None
    assert 0 < space.doubt(general) < 1e-5
    assert space.doubt(TILTED) == 0
    norm = 1 / (np.linalg.norm(E[0] - E[1]) * np.linalg.norm(E[1]))
    off = 1 + max(5 * space.doubt(general), 1e-10)

    @lm.claim("nearly the length", setting="mechanics", on="instances")
    def nearly(data):
        return lm.equal(data.each(lambda d: d.norm), norm * off)

    found = proof(nearly, general)
    assert not found.proved
    assert "may be an error" in found.says


def test_data_without_gradients_is_degenerate() -> None:
    zero = lm.mechanics.Dataset("zero", TILTED.data, np.array([[1.0], [0.0]]))
    space = MECHANICS.space
    assert space is not None
    assert space.degenerate(zero) == "no sample has a gradient"
    assert space.degenerate(PAIR) is None


def test_a_claim_may_bring_its_own_proof_or_say_that_nothing_breaks_it() -> None:
    @lm.claim("small", setting="mechanics", on=SHORT)
    def small(run):
        return lm.at_most(run.norm, 0.05)

    def exact(instance: Any, options: Any) -> Any:
        return lm.at_most([0.01 * t for t in range(41)], 0.05)

    def wrong(instance: Any, options: Any) -> Any:
        return lm.at_most([0.0], 0.05)

    claim, space = claim_of(small), MECHANICS.space
    assert space is not None
    (attempt,) = try_all(claim, [TILTED], {}, 0)
    for function, proved in ((exact, True), (wrong, False)):
        found = certify(replace(claim, exact=function), space, attempt, lambda case: case)
        assert found.proved is proved
        assert "fractions and balls" in found.says
    closed = replace(claim, unbreakable="it says that something exists")
    finding = lm.falsify(closed)
    assert isinstance(finding, Finding)
    assert finding.status is Outcome.NOT_SEARCHABLE
    assert finding.reason == "it says that something exists"


def test_terms_that_cancel_are_no_proof() -> None:
    """True statements whose sides are rounding alone, and a false one of the same shape."""
    tied = lm.mechanics.Dataset.from_sentences("tied", {"a b c a": 2, "a b c b": 3, "b a c a": 4})

    @lm.claim("W^cyc is orthogonal to W^mm", setting="mechanics", on="instances")
    def orthogonal(data):
        return lm.at_most(data.each(lambda d: abs(np.sum(d.W_mm * d.W_cyc))), 0.0)

    @lm.claim("norms are norms", setting="mechanics", on="instances")
    def norms(data):
        return lm.equal(data.each(lambda d: d.norm**2 - np.sum(d.W_mm**2)), 0.0)

    @lm.claim("W^cyc is 0", setting="mechanics", on="instances")
    def nothing(data):
        return lm.at_most(data.each(lambda d: abs(np.sum(d.W_cyc**2))), 0.0)

    space = MECHANICS.space
    assert space is not None
    for check in (orthogonal, norms):
        for attempt in try_all(claim_of(check), [tied], {}, 0):
            found = certify(
                claim_of(check), space, attempt, lambda case: read_back(MECHANICS, case)
            )
            assert not found.proved
    found = proof(nothing, tied)
    assert found.proved
    assert "in balls" in found.says


def test_both_sides_are_told_where_the_proof_is() -> None:
    """The violation grows all the way, but the proof goes as far as it must."""

    @lm.claim("the norm stays small", setting="mechanics", on=SHORT)
    def small(run):
        return lm.at_most(run.norm[:, 1:], 0.05)

    finding = lm.falsify(small)
    witness = finding.witness
    assert witness.place["t"] == 7
    assert abs(witness.place["left"] - 0.07) < 1e-12
    assert abs(witness.score + (0.07 - 0.05) / 0.07) < 1e-9
    assert witness.certificate.says.endswith("up to step 7")


def test_options_that_are_milder_do_as_well() -> None:
    @lm.claim("not far", setting="mechanics", on=lm.experiment("mechanics", steps=10))
    def near(run):
        return lm.at_most(run.norm - run.norm[:, :1], 0.5)

    witness = lm.falsify(near).witness
    assert dict(witness.options) == {"rate": 1.0}
    assert witness.size[0] == 1


@pytest.mark.parametrize(("usual", "kept"), [(8, {}), (LONG + 1, {"steps": 4})])
def test_options_that_do_not_matter_go_and_long_trainings_stay_short(
    usual: int, kept: dict[str, int]
) -> None:
    statement, setting = walks.claim(lambda run: lm.at_most(run.x, 0.35), steps=usual), Setting()
    hunt = Hunt(statement, setting.space, 0, np.inf, lambda line: None)
    (attempt,) = try_all(statement, [Walk(0, 1)], {"steps": 4, "rate": 0.2}, 0)
    found = Proofs(hunt, setting, setting.space)._with_fewer_options(attempt, -0.01, Clock())
    assert dict(found.options) == kept
    assert found.broken


def test_embeddings_of_a_witness_are_plain() -> None:
    @lm.claim("W^mm is long", setting="mechanics", hypotheses=["nonzero"], on="instances")
    def long(data):
        return lm.at_least(data.each(lambda d: d.norm), 0.6)

    embeddings = lm.falsify(long).witness.instance.embeddings
    assert np.count_nonzero(embeddings) <= 2
    assert set(np.unique(embeddings)) <= {0.0, 2.0, 5.0}


def test_an_attribute_that_is_rounding_alone_is_no_proof() -> None:
    """W^cyc is 0 for balanced ties; an interval Newton step knows, whatever floats say."""
    tied = lm.mechanics.Dataset.from_sentences("tied", ["a b c a", "a b c b"])
    noisy = replace(tied, name="noisy")
    noisy.__dict__["W_cyc"] = np.full((3, 3), 5e-32)
    space = MECHANICS.space
    assert space is not None

    @lm.claim("W^cyc is 0", setting="mechanics", on="instances")
    def nothing(data):
        return lm.equal(data.each(lambda d: np.abs(d.W_cyc).max()), 0.0)

    (attempt,) = try_all(claim_of(nothing), [noisy], {}, 0)
    assert attempt.broken
    found = certify(claim_of(nothing), space, attempt, lambda case: case)
    assert not found.proved
    assert found.rounding


def test_what_underflows_is_no_proof() -> None:
    """1e-180 is 0 to whoever squares it."""

    @lm.claim("nothing", setting="mechanics", on="instances")
    def nothing(data):
        return lm.equal(data.each(lambda d: 1e-180 * d.norm), 0.0)

    found = proof(nothing, TILTED)
    assert not found.proved
    assert found.rounding
