"""Every claim on its default experiment, and on small data whose verdicts are known by hand."""

import pytest

from lemmata.old_claims import Bench, Status, Verdict, check
from lemmata.papers import papers
from lemmata.papers.convergence.experiments import PAPER_RUN
from lemmata.tokens import Instance, TokenData

CLAIMS = {claim.name: claim for claim in papers()["convergence"].claims}

FALSE = {
    "section-4.1/injective",
    "section-4.1/roles",
    "section-6/non-comparable",
    "assumption-3/prose",
    "corollary-1",
    "section-c.1/equal-margins",
    "theorem-1",
    "theorem-1/appendix",
    "theorem-2/threshold",
    "theorem-2/epsilon",
    "footnote-3",
    "sketch-step-2",
    "lemma-5/without-assumption-3",
    "lemma-7/step",
    "proposition-2",
    "proposition-4",
}
SILENT = {
    "proposition-1",
    "proposition-1/appendix",
    "proposition-3",
    "theorem-1/repaired",
    "theorem-2",
    "equation-4",
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(seed=0)


@pytest.mark.parametrize("name", CLAIMS)
def test_default_verdicts(bench: Bench, name: str):
    verdict = check(CLAIMS[name], bench)
    short = name.removeprefix("convergence/")
    expected = (
        Status.FAILS if short in FALSE else Status.VACUOUS if short in SILENT else Status.HOLDS
    )
    assert verdict.status is expected, verdict.reason
    assert verdict.control is Status.FAILS, "the check cannot fail"
    if verdict.status is Status.FAILS:
        assert verdict.witness


def test_figure_2_looks_at_the_hundred_random_datasets(bench: Bench):
    names = [dataset.name for dataset in bench.evidence(PAPER_RUN).datasets]
    assert names == [f"realizable-20-0.{i}" for i in range(100)]


def on(sentences: list[str], name: str, **options) -> Verdict:
    """The verdict on sentences of one-letter tokens."""
    data = TokenData.from_sentences([list(sentence) for sentence in sentences])
    return check(CLAIMS[f"convergence/{name}"], Bench(instances=[Instance(data)], options=options))


EXAMPLE = ["SVOP", "VOP", "OPP", "PSV"]


def test_theorem_1_on_example_1_is_vacuous_until_ten_thousand_million_steps():
    verdict = on(EXAMPLE, "theorem-1", steps=50)
    assert verdict.status is Status.VACUOUS
    assert verdict.informative_from == pytest.approx(1.26e10, rel=0.01)


def test_proposition_1_speaks_once_stage_1_is_long_enough():
    short = on(EXAMPLE, "proposition-1", stage1_rate=0.1, steps=1)
    assert short.status is Status.VACUOUS
    assert short.informative_from == 4551
    long = on(EXAMPLE, "proposition-1", stage1_rate=0.1, stage1_steps=4600, steps=1)
    assert long.status is Status.HOLDS


@pytest.mark.parametrize(
    ("sentences", "claim", "assumption"),
    [
        (["abc", "acb", "bca", "cab"], "lemma-1", "a collocation"),
        (["ac", "bc", "ca"], "theorem-1", "Assumption 1 (i)"),
        (["bcc", "abcb", "ca"], "theorem-1", "Assumption 1 (ii)"),
        (["aba", "bc", "ca"], "theorem-1", "preimage in the sentence (Section 4.1)"),
        (["ab", "ba"], "theorem-1", "a choice for attention"),
        (["aaa"], "lemma-1", "two tokens"),
    ],
)
def test_what_does_not_apply_names_the_assumption(sentences, claim, assumption):
    verdict = on(sentences, claim)
    assert verdict.status is Status.INAPPLICABLE
    assert verdict.witness is not None
    assert verdict.witness["assumption"] == assumption


def test_proposition_2_holds_on_the_users_data_when_it_is_realizable():
    assert on(EXAMPLE, "proposition-2").status is Status.HOLDS


def test_lemma_7_is_undecided_when_t_0_is_out_of_reach(bench: Bench):
    verdict = check(CLAIMS["convergence/lemma-7"], bench)
    assert verdict.status is Status.HOLDS
    long = ["abcdefghij" * 90, *[x + y for x, y in zip("bcdefghij", "cdefghija", strict=True)]]
    assert on(long, "lemma-7").status in (Status.UNDECIDED, Status.INAPPLICABLE)


def test_corollary_1_asks_for_more_steps_than_the_paper_takes():
    verdict = on(EXAMPLE, "corollary-1", stage1_rate=0.1, steps=1)
    assert verdict.status is Status.INAPPLICABLE
    assert verdict.informative_from == pytest.approx(1.79e6, rel=0.01)
