"""Claims on a bench: hypotheses, versions, the user's data, options, and how parts combine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from oracles.made_up import Thing

from lemmata._errors import InputError
from lemmata.claims import (
    AbstractInstances,
    Bench,
    Comparisons,
    Experiment,
    Fact,
    Judgement,
    Kind,
    Several,
    Silence,
    Status,
    Tightness,
    Verdict,
    Verdicts,
    Version,
    at_least,
    check,
    claims_of,
    combine,
    repaired,
    statements,
    tally,
    worth,
)
from lemmata.claims._claim import Claim
from lemmata.settings import Evidence, Hypothesis
from lemmata.tokens import Problem

SMALL = Hypothesis("small", "Assumption 1", "numbers are small", frozenset({"large"}))
EVEN = Hypothesis("even", "Assumption 2", "numbers are even", frozenset({"odd"}))


@dataclass(frozen=True)
class Numbers(AbstractInstances):
    """Whole numbers from ``first`` on, as things that know what is wrong with them."""

    first: int = 1
    count: int = 3

    def draw(self, seed: int, scale: str) -> Sequence[Thing]:
        many = self.count * (10 if scale == "paper" else 1)
        return [number(self.first + seed + i) for i in range(many)]

    @property
    def says(self) -> str:
        return f"{self.count} numbers from {self.first} on"


def number(value: int) -> Thing:
    large = [Problem("large", f"number {value}", "it is larger than 3")] if value > 3 else []
    odd = [Problem("odd", f"number {value}", "it is odd")] if value % 2 else []
    return Thing(str(value), (*large, *odd))


@dataclass(frozen=True)
class Steps:
    steps: int = 4
    rate: float = 0.5


def grow(experiment: Experiment[Any], things: Sequence[Thing], bench: Bench) -> Evidence[Thing]:
    """Multiples of each number."""
    training = experiment.training or Steps()
    steps = np.arange(1, training.steps + 1)
    values = np.array([[int(thing.name)] for thing in things], dtype=float)
    bench.track("growing", 1)(1)
    return Evidence(tuple(things), steps, {"size": values * steps, "value": values})


PLAIN: Experiment[Evidence[Thing]] = Experiment(Numbers(), grow)
TRAINED: Experiment[Evidence[Thing]] = Experiment(Numbers(), grow, training=Steps())
OWN: Experiment[Evidence[Thing]] = Experiment(Numbers(), grow, own=True)

claim = statements("made-up")


def first(check_function: Any) -> Claim:
    return check_function.claims[0]


@claim("lemma-1", "Section 1", "sizes are at least t", on=PLAIN)
def lemma_1(evidence: Evidence[Thing]) -> Comparisons:
    return at_least(evidence.size, evidence.steps)


@claim(
    "lemma-2",
    "Section 2",
    "values exceed a number",
    on=TRAINED,
    hypotheses=(SMALL,),
    kind="constant",
    versions=[
        Version("appendix", where="Appendix", statement="another number", parameters={"bound": 2}),
        Version("repaired", hypotheses=(SMALL, EVEN), parameters={"bound": 1.5}),
    ],
    bound=3,
)
def lemma_2(evidence: Evidence[Thing], bound: float) -> Comparisons:
    return [at_least(evidence.value, bound, part="value")]


def test_a_true_statement() -> None:
    verdict = check(first(lemma_1), Bench())
    assert verdict.status is Status.HOLDS
    assert verdict.experiment == "3 numbers from 1 on; multiples of each number"
    assert verdict.support is not None
    assert (verdict.support.instances, verdict.support.set_aside) == (3, 0)
    assert verdict.support.steps == 4
    assert verdict.instance == {"name": "1"}


def test_versions_stand_in_one_declaration() -> None:
    printed, appendix, repaired = lemma_2.claims  # pyright: ignore[reportFunctionMemberAccess]
    assert [c.name for c in (printed, appendix, repaired)] == [
        "made-up/lemma-2",
        "made-up/lemma-2/appendix",
        "made-up/lemma-2/repaired",
    ]
    assert (appendix.where, repaired.where) == ("Appendix", "Section 2")
    assert (appendix.statement, repaired.statement) == ("another number", "values exceed a number")
    verdicts = [check(c, Bench()) for c in (printed, appendix, repaired)]
    assert [v.status for v in verdicts] == [Status.FAILS, Status.FAILS, Status.HOLDS]
    assert [v.kind for v in verdicts] == ["constant", None, None]
    assert [v.margin for v in verdicts] == [-2.0, -1.0, 0.5]


def test_cases_that_break_a_hypothesis_are_set_aside_and_never_judged() -> None:
    verdict = check(first(lemma_2), Bench(seed=2))
    assert verdict.support is not None
    assert (verdict.support.instances, verdict.support.set_aside) == (1, 2)
    assert verdict.status is Status.HOLDS
    assert verdict.tightness is not None
    assert verdict.tightness.factor == 1.0, "5 and 4 break Assumption 1; 3 is all that is left"


def test_inapplicable_says_which_hypothesis_and_why() -> None:
    verdict = check(first(lemma_2), Bench(seed=3))
    assert verdict.status is Status.INAPPLICABLE
    assert verdict.reason == "Assumption 1 is not met: it is larger than 3 (number 4)"
    assert verdict.witness == {
        "assumption": "Assumption 1",
        "problem": "large",
        "where": "number 4",
    }


def test_the_users_data_takes_the_place_of_the_instances() -> None:
    verdict = check(first(lemma_1), Bench(instances=[number(7)]))
    assert verdict.experiment == "your data: 7; multiples of each number"
    assert verdict.witness is not None
    assert verdict.witness["dataset"] == "7"
    many = check(first(lemma_1), Bench(instances=[number(i) for i in range(1, 6)]))
    assert "your data: 1, 2, 3 and 2 more" in many.experiment


def test_a_statement_about_its_own_instances_ignores_no_data_silently() -> None:
    own = first(claim("figure-1", "Figure 1", "s", on=OWN)(lambda e: at_least(e.value, 0.5)))
    assert check(own, Bench()).status is Status.HOLDS
    verdict = check(own, Bench(instances=[number(7)]))
    assert verdict.status is Status.INAPPLICABLE
    assert "your data cannot take their place" in verdict.reason


def test_options_change_the_training_or_are_refused_by_name() -> None:
    verdict = check(first(lemma_2), Bench(options={"steps": 9}))
    assert verdict.support is not None
    assert verdict.support.steps == 9
    assert "steps 9" in verdict.experiment
    with pytest.raises(InputError, match="made-up/lemma-1 trains nothing, so that rate would"):
        check(first(lemma_1), Bench(options={"rate": 1.0}))
    with pytest.raises(InputError, match=r"'rte'; did you mean 'rate'\? \(known: steps, rate\)"):
        check(first(lemma_2), Bench(options={"rte": 1.0}))


def test_an_experiment_is_bound_to_the_training_that_is_asked_for_if_it_trains() -> None:
    """A counterexample may train nothing where the claim itself does."""
    shorter, large = Bench(options={"steps": 9}), Bench(scale="paper")
    long = replace(TRAINED, paper_training=Steps(1_000))
    for experiment, bench, training in (
        (PLAIN, shorter, None),
        (PLAIN, large, None),
        (TRAINED, shorter, Steps(9)),
        (TRAINED, large, Steps()),
        (long, Bench(), Steps()),
        (long, large, Steps(1_000)),
        (long, Bench(options={"steps": 9}, scale="paper"), Steps(9)),
    ):
        assert bench.bind(experiment).training == training


@pytest.mark.parametrize("steps", [0, -3])
def test_without_a_step_nothing_is_checked(steps: int) -> None:
    with pytest.raises(InputError, match=f"on at least 1 step of training; got --steps {steps}"):
        check(first(lemma_2), Bench(options={"steps": steps}))


def test_a_training_that_is_too_short_for_a_formula_gives_no_warning() -> None:
    @claim("fact-1", "Section 1", "what grows tells its rate", on=TRAINED)
    def rate(evidence: Evidence[Thing]) -> Comparisons:
        return at_least(evidence.size / np.log(evidence.steps[-1]), 0.0)

    assert check(first(rate), Bench(options={"steps": 1})).status is Status.UNDECIDED

    @claim("fact-2", "Section 1", "what grows has a mean later", on=TRAINED)
    def mean(evidence: Evidence[Thing]) -> Comparisons:
        return at_least(evidence.size[0, 3:].mean(), 0.0)

    assert check(first(mean), Bench(options={"steps": 1})).status is Status.UNDECIDED


def test_a_training_that_is_too_short_to_be_measured_is_told() -> None:
    @claim("fact-3", "Section 1", "the fourth is large", on=TRAINED)
    def fourth(evidence: Evidence[Thing]) -> Comparisons:
        return at_least(evidence.size[:, 3], 4.0)

    assert check(first(fourth), Bench()).status is Status.HOLDS
    with pytest.raises(InputError, match="made-up/fact-3 cannot be checked with steps 2: such a"):
        check(first(fourth), Bench(options={"steps": 2}))


def test_evidence_is_shared_by_equal_experiments_and_only_by_them() -> None:
    runs: list[str] = []

    def track(title: str, total: int) -> Any:
        runs.append(title)
        return lambda done: None

    bench = Bench(track=track)
    same: Experiment[Any] = Experiment(Numbers(), grow)
    other: Experiment[Any] = Experiment(Numbers(first=2), grow)
    assert bench.evidence(PLAIN) is bench.evidence(same)
    assert bench.evidence(other) is not bench.evidence(PLAIN)
    assert len(runs) == 2
    users = Bench(track=track, instances=[number(1)])
    assert users.evidence(PLAIN) is users.evidence(other), "the same data, the same experiment"


def test_seed_and_scale_reach_the_instances() -> None:
    assert [c.name for c in Bench(seed=5).evidence(PLAIN)] == ["6", "7", "8"]
    assert len(Bench(scale="paper").evidence(PLAIN)) == 30
    several: Experiment[Any] = Experiment(Several((Numbers(1, 1), Numbers(9, 2))), grow)
    assert [c.name for c in Bench().evidence(several)] == ["1", "9", "10"]
    assert several.says.startswith("1 numbers from 1 on, 2 numbers from 9 on; ")


def _broken(bench: Bench) -> Comparisons:
    return at_least([[0.0]], 1.0, part="counterexample", cases=[number(2)])


def test_a_counterexample_counts_in_default_runs_only() -> None:
    options: dict[str, Any] = {"on": PLAIN, "counterexample": _broken, "kind": "hypothesis"}
    both = first(claim("lemma-3", "w", "s", **options)(lambda e: at_least(e.value, 0.5)))
    verdict = check(both, Bench())
    assert (verdict.status, verdict.kind) == (Status.FAILS, "hypothesis")
    assert verdict.instance == {"name": "2"}
    assert check(both, Bench(instances=[number(1)])).status is Status.HOLDS


def test_a_counterexample_counts_even_if_no_instance_meets_the_hypotheses() -> None:
    options: dict[str, Any] = {"on": PLAIN, "counterexample": _broken, "hypotheses": (SMALL,)}
    broken = first(claim("lemma-4", "w", "s", **options)(lambda e: at_least(e.value, 0.5)))
    assert check(broken, Bench(seed=9)).status is Status.FAILS


def test_beside_a_counterexample_it_is_said_why_no_instance_counts() -> None:
    """Instances that break a hypothesis, some that could not be used at all, and none."""

    def none(experiment: Experiment[Any], things: Sequence[Thing], bench: Bench) -> Evidence[Thing]:
        return Evidence((), np.arange(1, 5), {"value": np.zeros((0, 1))}, skipped=tuple(things))

    for measure, count, parts in (
        (grow, 3, ["counterexample", "hypotheses"]),
        (none, 3, ["counterexample", "hypotheses"]),
        (none, 0, ["counterexample"]),
    ):
        on: Experiment[Any] = Experiment(Numbers(count=count), measure)
        options: dict[str, Any] = {"on": on, "counterexample": _broken, "hypotheses": (SMALL,)}
        broken = first(claim("lemma-5", "w", "s", **options)(lambda e: at_least(e.value, 0.5)))
        verdict = check(broken, Bench(seed=9))
        assert [part.part for part in verdict.parts] == parts
        assert all("larger than 3" in part.reason for part in verdict.parts[1:])


def test_several_claims_on_one_check() -> None:
    @claim("a", "w", "s", on=PLAIN, bound=1)
    @claim("b", "w", "s", on=PLAIN, bound=2)
    def shared(evidence: Evidence[Thing], bound: float) -> Comparisons:
        return at_least(evidence.value, bound)

    names = [c.name for c in shared.claims]  # pyright: ignore[reportFunctionMemberAccess]
    assert names == ["made-up/a", "made-up/b"]


def test_claims_of_modules_come_once() -> None:
    module: Any = ModuleType("made_up_claims")
    module.lemma_1, module.again, module.other = lemma_1, lemma_1, 3
    assert [c.name for c in claims_of([module, module])] == ["made-up/lemma-1"]


ORDER = ["fails", "inapplicable", "undecided", "vacuous", "holds"]


@pytest.mark.parametrize("worse", range(5))
def test_the_worst_part_speaks(worse: int) -> None:
    parts = [Judgement(str(i), Status(ORDER[i]), "r") for i in range(worse, 5)]
    assert combine(parts[::-1]).part == str(worse)
    twice = [Judgement("first", Status.VACUOUS, "r"), Judgement("second", Status.VACUOUS, "r")]
    assert combine(twice).part == "first"


def test_parts_and_their_worst_make_the_verdict() -> None:
    options: dict[str, Any] = {"on": PLAIN}
    parts = [Fact(True, "so", part="fact"), Silence("too short", part="end")]
    mixed = first(claim("lemma-5", "w", "s", **options)(lambda e: parts))
    verdict = check(mixed, Bench())
    assert verdict.status is Status.UNDECIDED
    assert [part.part for part in verdict.parts] == ["fact", "end"]
    assert verdict.instance is None


def test_tally() -> None:
    verdicts = [check(first(lemma_1), Bench()), check(first(lemma_2), Bench())]
    counted = tally(verdicts)
    assert counted[Status.HOLDS] == counted[Status.FAILS] == 1
    assert sum(counted.values()) == 2


def test_columns_are_attributes_and_an_unknown_one_lists_them() -> None:
    evidence = Bench().evidence(PLAIN)
    assert evidence.size.shape == (3, 4)
    assert {"size", "value"} <= set(dir(evidence))
    with pytest.raises(AttributeError, match=r"'sise'; did you mean 'size'\? \(known: size, value"):
        _ = evidence.sise


def test_parts_of_evidence() -> None:
    evidence = Bench().evidence(PLAIN)
    chosen = evidence.where(lambda case: case.name != "2")
    assert chosen.names == ["1", "3"]
    assert chosen.value.tolist() == [[1.0], [3.0]]
    grid = evidence.each(lambda case: range(int(case.name)))
    assert np.array_equal(grid[2], [0, 1, 2])
    assert np.isnan(grid[0, 1:]).all()
    assert grid[0, 0] == 0


def test_the_part_that_fails_gives_the_instance() -> None:
    @claim("lemma-3", "Section 3", "two parts", on=PLAIN)
    def parts(evidence: Evidence[Thing]) -> Comparisons:
        return [at_least(evidence.value, 0.0), at_least(-evidence.value, -2.5)]

    verdict = check(first(parts), Bench())
    assert verdict.status is Status.FAILS
    assert verdict.instance == {"name": "3"}


@dataclass(frozen=True, eq=False)
class Unequal:
    """A training that is equal to itself alone, as one with a function in it is."""

    steps: int = 4


def test_equal_experiments_share_their_evidence() -> None:
    bench = Bench()
    experiment = Experiment(Numbers(), grow, training=Unequal())
    assert bench.evidence(experiment) is bench.evidence(experiment)
    assert bench.evidence(PLAIN) is bench.evidence(Experiment(Numbers(), grow))
    assert bench.evidence(PLAIN) is not bench.evidence(TRAINED)


def test_what_a_verdict_is_worth_and_how_many_there_are() -> None:
    def verdict(name: str = "a/b", **fields: Any) -> Verdict:
        return Verdict(name, **{"status": Status.HOLDS, "reason": "so"} | fields, **REST)

    bound = Tightness(3.0, 1.0, "a", 0.0)
    assert worth(verdict(tightness=bound)) == "3 times looser than needed"
    assert worth(verdict(tightness=Tightness(1.0004, 1.0, "a", 0.0))) == "attained"
    assert worth(verdict(tightness=Tightness(1.0006, 1.0, "a", 0.0))) != "attained"
    assert worth(verdict(tightness=Tightness(None, 0.25, "a", 0.0))) == "looser by 0.25 than needed"
    assert worth(verdict(tightness=Tightness(None, 0.0, "a", 0.0))) == "attained"
    assert worth(verdict(resolution=0.02)) == "resolves 0.02"
    assert worth(verdict(informative_from=7.0)) == "speaks from t = 7"
    assert worth(verdict(kind=Kind.CONSTANT, tightness=bound)) == "constant"
    assert worth(verdict()) == ""
    several = Verdicts(
        [verdict("x/1"), verdict("x/2"), verdict("x/3", status=Status.FAILS, reason="<no>")]
    )
    assert tally(several) == dict.fromkeys(Status, 0) | {Status.HOLDS: 2, Status.FAILS: 1}
    assert [v.claim for v in several.having("fails")] == ["x/3"]
    assert several["x/2"] is several[1]
    with pytest.raises(InputError, match="unknown verdict 'x/4'"):
        several["x/4"]
    assert repr(several).splitlines()[2] == "<Verdict on x/3: fails; <no>>"
    assert repr(several.having("vacuous")) == "<no verdicts>"
    page = several._repr_html_()
    assert page.index("<th>status") < page.index("<td>fails") < page.index("<td>x/3")
    assert "&lt;no&gt;" in page
    assert several[0]._repr_html_().count("<tr>") == 2


REST = {"statement": "it is so", "where": "Section 1", "experiment": "none"}


def test_combining_takes_the_worst_in_the_order_of_statuses() -> None:
    order = ("fails", "inapplicable", "undecided", "vacuous", "holds")
    for i, worse in enumerate(order):
        for better in order[i:]:
            parts = [Judgement("b", Status(better), "b"), Judgement("w", Status(worse), "w")]
            assert combine(parts).status == worse
            assert combine(parts[::-1]).part == "w"


def test_a_repaired_version_differs_in_what_is_given() -> None:
    version = repaired("it is above 1.5", where="here", hypotheses=(EVEN,), on=PLAIN, bound=1.5)
    assert version == Version(
        "repaired", "here", "it is above 1.5", (EVEN,), PLAIN, parameters={"bound": 1.5}
    )
    assert repaired("so") == Version("repaired", statement="so")
