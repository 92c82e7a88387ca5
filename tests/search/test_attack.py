"""The adversary on lemmas whose truth is known."""

import json
from pathlib import Path
from typing import Any

import pytest

import lemmata as lm
from lemmata._errors import InputError
from lemmata._verbs import find_claims, setting_of
from lemmata.search import Finding, Outcome, attack
from lemmata.search._score import try_all

SHORT = lm.experiment("mechanics", steps=20)
FILE = Path(__file__).parent / "conjectures.py"


def claim(name: str) -> Any:
    (found,) = find_claims(f"{FILE}::{name}")
    return found


def attacked(name: str, **options: Any) -> Finding:
    options = {"budget": 60.0} | options
    return attack(claim(name), setting_of(claim(name)), **options)


@pytest.fixture(scope="module")
def descent() -> Finding:
    """The attack on a statement about training that is false."""
    return lm.falsify(f"{FILE}::false_descent")[0]


def test_a_false_statement_about_training_is_broken_by_two_samples_and_proved(
    descent: Finding,
) -> None:
    finding = descent
    assert finding.status is Outcome.FAILS
    assert finding.certified
    witness = finding.witness
    assert witness is not None
    assert witness.size[:2] == (2, 2)
    assert witness.place["left"] > witness.place["right"]
    assert "ball arithmetic" in witness.certificate.says
    assert finding.scopes == ("K <= 3, T <= 3, n = 1", "K <= 3, T <= 3, n = 2")


@pytest.fixture(scope="module")
def pairs() -> Finding:
    """The attack on a statement about limits that is false."""
    return attacked("false_pairs")


def test_a_false_statement_about_limits_needs_other_embeddings(pairs: Finding) -> None:
    finding = pairs
    assert finding.status is Outcome.FAILS
    assert finding.witness is not None
    assert finding.witness.instance.embeddings is not None
    assert finding.witness.size[0] == 1


def test_nothing_can_be_left_out_of_a_witness(descent: Finding) -> None:
    assert descent.witness is not None
    space = setting_of(claim("false_descent")).space
    assert space is not None
    enough = -min(1e-6, -descent.witness.score / 2)
    smaller = [
        instance
        for instance in space.simpler(descent.witness.instance)
        if space.size(instance) < descent.witness.size and space.degenerate(instance) is None
    ]
    assert smaller
    tried = try_all(claim("false_descent"), smaller, descent.witness.options, 0)
    assert not [attempt for attempt in tried if attempt.score <= enough]


@pytest.mark.parametrize("name", ["true_path", "true_ties"])
def test_a_true_statement_survives(name: str) -> None:
    finding = attacked(name, budget=3.0)
    assert finding.status is Outcome.SURVIVED
    assert finding.tried > 5
    assert finding.closest is not None
    assert finding.closest >= 0
    assert finding.witness is None


def test_a_scope_is_gone_through_whole_without_any_time() -> None:
    finding = attacked("true_ties", budget=0.0, scope={"K": 3, "T": 3, "n": 2})
    assert finding.scopes == ("K <= 3, T <= 3, n = 1", "K <= 3, T <= 3, n = 2")
    assert finding.tried == 236
    with pytest.raises(InputError, match=r"unknown size in a scope of this setting 'd'.*K, T, n"):
        attacked("true_ties", scope={"d": 2})


def test_a_figure_cannot_be_attacked() -> None:
    (figure,) = find_claims("mechanics/figure-3")
    finding = attack(figure, setting_of(figure))
    assert finding.status is Outcome.NOT_SEARCHABLE
    assert "figure" in finding.reason


def test_witness_files_show_the_violation_again(tmp_path: Path, descent: Finding) -> None:
    finding = descent
    assert finding.witness is not None
    file = finding.save(tmp_path / "w.json")
    (verdict,) = lm.check(f"{FILE}::false_descent", data=file)
    assert verdict.status is lm.Status.FAILS
    assert lm.train(file, steps=60).log_loss.shape[0] == 1
    with pytest.raises(InputError, match="has no witness"):
        lm.falsify(f"{FILE}::true_ties", budget=0.5)[0].save(tmp_path / "none.json")


def test_findings_are_values(pairs: Finding) -> None:
    names = [f"{FILE}::false_pairs", f"{FILE}::true_ties"]
    found = lm.falsify(names, budget=0.0, scope={"K": 2, "T": 2, "n": 1})
    assert [finding.claim for finding in found] == [
        "conjectures/false_pairs",
        "conjectures/true_ties",
    ]
    document = pairs.document()
    assert {"claim", "status", "certified", "witness", "size", "tried", "scopes", "closest"} <= set(
        document
    )
    assert document["witness"]["left"] > document["witness"]["right"]
    json.dumps(document["size"])


def test_instances_that_cannot_be_evaluated_are_set_aside() -> None:
    """A batch is halved until only they are left out."""
    good = lm.mechanics.draw(3)
    bad = lm.mechanics.Dataset.from_samples("nothing", [["a", "b"]], ["c"])
    tried = try_all(claim("true_path"), [*good, bad], {}, 0)
    assert len(tried) == 3


def test_a_strict_statement_that_is_touched_is_undecided() -> None:
    """With one sample every step has the same direction, so that the norm is the path."""

    @lm.claim("shorter", setting="mechanics", hypotheses=["zero_start", "nonzero"], on=SHORT)
    def shorter(run):
        return lm.at_most(run.norm[:, 1:], run.steps[1:] * run.rate, strict=True)

    @lm.claim(
        "moved", setting="mechanics", hypotheses=["zero_start", "acyclic", "nonzero"], on=SHORT
    )
    def moved(run):
        return lm.at_least(run.norm[:, 1:2], 0.0, strict=True)

    finding = lm.falsify(shorter, budget=1.0)
    assert finding.status is Outcome.UNDECIDED
    assert "equal up to rounding" in finding.reason
    assert lm.falsify(moved, budget=1.0).status is Outcome.SURVIVED
