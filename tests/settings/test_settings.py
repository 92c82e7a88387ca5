"""What all settings share, on values made up for it."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.margin import MaxMargin, Status
from lemmata.settings import (
    RECORD,
    AbstractSetting,
    AbstractSpace,
    Evidence,
    Forecast,
    Look,
    Option,
    OrdersView,
    Prediction,
    Run,
    as_rows,
    certificate_of,
    check_options,
    encode,
    hypothesis,
    in_places,
    number_or,
    problems_document,
    step_numbers,
    union,
)
from lemmata.tokens import PriorityGraph, Problem, TokenData


@dataclass(frozen=True)
class Thing:
    name: str
    weight: float = 2.0
    problems: tuple[Problem, ...] = ()


LARGE, ODD = Problem("large", "line 3", "too large"), Problem("odd", "line 4", "it is odd")
DATA = TokenData.from_samples([("abc", "a", 1, "")])


# Evidence.


@pytest.fixture
def evidence() -> Evidence[Thing]:
    columns = {"norm": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "rate": np.ones((3, 1))}
    skipped = (Thing("gone"),)
    return Evidence(tuple(map(Thing, "abc")), np.array([0, 5]), columns, skipped)


def test_what_the_instances_know_is_asked_of_each(evidence: Evidence[Thing]) -> None:
    with pytest.raises(AttributeError, match=r"own: run\.each\(lambda d: d\.weight\)"):
        _ = evidence.weight
    untrained = Evidence(evidence.cases)
    with pytest.raises(AttributeError, match=r"'weight' .*own: data\.each\(lambda d: d\.weight\)"):
        _ = untrained.weight
    with pytest.raises(AttributeError, match=r"unknown column 'wight' \(known: none\)$"):
        _ = untrained.wight
    np.testing.assert_array_equal(untrained.each(lambda d: d.weight), [[2.0]] * 3)


def test_columns_are_attributes(evidence: Evidence[Thing]) -> None:
    np.testing.assert_array_equal(evidence.norm[1], [3.0, 4.0])
    assert {"norm", "rate", "select"} <= set(dir(evidence))
    assert (len(evidence), evidence.names) == (3, ["a", "b", "c"])
    assert [case.name for case in evidence] == ["a", "b", "c"]
    with pytest.raises(AttributeError, match=r"unknown column 'nor'.*norm"):
        _ = evidence.nor
    with pytest.raises(AttributeError, match="_norm"):
        _ = evidence._norm
    np.testing.assert_array_equal(evidence.records, [0, 5])
    with pytest.raises(AssertionError, match="nothing was followed"):
        _ = Evidence((Thing("a"),)).records


def test_evidence_of_some_cases(evidence: Evidence[Thing]) -> None:
    chosen = evidence.select([2, 0])
    assert chosen.names == ["c", "a"]
    np.testing.assert_array_equal(chosen.norm, [[5.0, 6.0], [1.0, 2.0]])
    np.testing.assert_array_equal(chosen.records, [0, 5])
    assert (evidence.skipped, chosen.skipped) == ((Thing("gone"),), ())
    assert evidence.where(lambda case: case.name != "b").names == ["a", "c"]


def test_numbers_of_each_case_and_rows_of_different_lengths(evidence: Evidence[Thing]) -> None:
    np.testing.assert_array_equal(evidence.each(lambda case: case.weight), [[2.0]] * 3)
    nan = np.nan
    np.testing.assert_array_equal(
        as_rows([[1, 2, 3], 4.0, []]), [[1, 2, 3], [4, nan, nan], [nan] * 3]
    )
    assert as_rows([]).shape == (0, 0)
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = [[nan, nan], [3.0, 4.0], [nan, nan], [1.0, 2.0]]
    np.testing.assert_array_equal(in_places(rows, [3, 1], 4), expected)


# Hypotheses and problems.


def test_hypotheses_are_broken_by_their_problems_alone() -> None:
    small = hypothesis("small", "Assumption 1", "numbers are small", "large", "huge")
    assert (small.name, small.title, small.says) == ("small", "Assumption 1", "numbers are small")
    assert small.broken([ODD, LARGE]) == [LARGE]
    assert small.broken([ODD]) == []
    both = union("both", "Section 2", "small and even", [small, hypothesis("even", "", "", "odd")])
    assert (both.name, both.title, both.says) == ("both", "Section 2", "small and even")
    assert both.broken_by == {"large", "huge", "odd"}
    assert both.broken([ODD, LARGE]) == [ODD, LARGE]


def test_problems_as_json() -> None:
    twice = Problem("odd", "line 9", "it is odd too")
    assert problems_document([LARGE], {"small": [LARGE], "even": [ODD, twice], "new": []}) == {
        "problems": [{"code": "large", "where": "line 3", "message": "too large"}],
        "assumptions": {
            "small": {"holds": False, "problems": ["large"]},
            "even": {"holds": False, "problems": ["odd"]},
            "new": {"holds": True, "problems": []},
        },
    }


def test_words_become_tokens() -> None:
    assert encode(DATA, "c a") == encode(DATA, ["c", "a"]) == [2, 0]
    with pytest.raises(InputError, match=r"'c x y': unknown token 'x', 'y'; known: a b c$"):
        encode(DATA, "c x y")
    with pytest.raises(InputError, match=r"unknown token 'x'; known: a b$"):
        encode(DATA, "x", shown=2)
    with pytest.raises(InputError, match=r"\(none given\)"):
        encode(DATA, "")


# Options.

OPTIONS = (
    Option("algorithm", "--algorithm", "", choices=("gd", "ngd")),
    Option("rate", "--lr", "", number_or("paper"), "a number or 'paper'"),
    Option("epsilon", "--epsilon", "", float, "a number", algorithms=("ngd",)),
)


def test_what_is_typed_is_read() -> None:
    assert step_numbers("1,100,900") == (1, 100, 900)
    assert RECORD.read("3,4") == (3, 4)
    assert (RECORD.name, RECORD.flag) == ("record", "--record")
    with pytest.raises(InputError, match="--record takes step numbers like 1,100,900; got 'x'"):
        RECORD.read("x")
    rate = OPTIONS[1]
    assert (rate.read("paper"), rate.read("0.5")) == ("paper", 0.5)
    with pytest.raises(InputError, match="--lr takes a number or 'paper'; got 'fast'"):
        rate.read("fast")
    plain = Option("name", "--name", "")
    assert (plain.read("7"), plain.many) == ("7", False)


def test_options_without_effect_are_refused() -> None:
    check_options("toy", OPTIONS, {"rate": 0.1})
    check_options("toy", OPTIONS, {"algorithm": "ngd", "epsilon": 0.1})
    check_options("toy", OPTIONS, {"epsilon": None})
    check_options("toy", OPTIONS[1:2], {"rate": 0.1})
    with pytest.raises(InputError, match=r"--epsilon \(epsilon\) has no effect with algorithm gd"):
        check_options("toy", OPTIONS, {"epsilon": 0.1})
    with pytest.raises(InputError, match=r"it is for ngd. gd takes --algorithm, --lr$"):
        check_options("toy", OPTIONS, {"algorithm": "gd", "epsilon": 0.1})
    with pytest.raises(InputError, match=r"unknown option of the toy setting 'x'; it takes alg"):
        check_options("toy", OPTIONS, {"x": 1})
    with pytest.raises(InputError, match="unknown algorithm 'sgd'"):
        check_options("toy", OPTIONS, {"algorithm": "sgd"})
    # an optimizer in the place of a word is what the usual algorithm is
    check_options("toy", OPTIONS, {"algorithm": object(), "rate": 0.1})
    with pytest.raises(InputError, match="has no effect with algorithm gd"):
        check_options("toy", OPTIONS, {"algorithm": object(), "epsilon": 0.1})


class Toy(AbstractSetting[Thing]):
    key = "toy"
    options = OPTIONS
    hypotheses = (hypothesis("small", "", "", "large"), hypothesis("even", "", "", "odd"))

    def read(self, file: Any, embeddings: Any = None) -> Any:
        raise NotImplementedError

    draw = analyze = train = read


def test_a_setting_knows_its_options_and_hypotheses() -> None:
    toy = Toy()
    toy.check({"rate": 0.1})
    with pytest.raises(InputError, match="unknown option of the toy setting 'x'"):
        toy.check({"x": 1})
    assert toy.hypothesis("even") is toy.hypotheses[1]
    with pytest.raises(InputError, match=r"unknown hypothesis of the toy setting 'odd'.*even"):
        toy.hypothesis("odd")


class Telling(Toy):
    """A setting with something to say about every instance."""

    def forecasts(self, run: Run, i: int) -> list[Forecast]:
        return [Forecast("norm", run.norm[i] + i, "at most")]

    def looks(self, run: Run, i: int) -> list[Look]:
        return [Look("why", ("a", run.instances[i].name), np.array([1.0]), np.array([0.5]))]


def test_what_theory_says_stands_beside_what_was_trained() -> None:
    first, second = Telling().document(run())["instances"]
    (said,), (seen,) = first["forecasts"], first["attention"]
    assert (said["column"], said["says"], said["values"].tolist()) == ("norm", "at most", [1, 2])
    assert (seen["title"], seen["input"]) == ("why", ["a", "a"])
    assert (seen["before"].tolist(), seen["after"].tolist()) == ([1.0], [0.5])
    assert "forecasts" not in second
    assert "attention" not in second
    assert Toy().document(run())["instances"][0]["forecasts"] == []


class Bare(AbstractSpace[Thing]):
    """A space that says only what it must."""

    limits = {"n": 1}  # noqa: RUF012

    def scopes(self, limits: Any) -> Any:
        raise NotImplementedError

    extremes = draw = vary = simpler = size = scopes


def test_what_a_space_need_not_say() -> None:
    bare, thing = Bare(), Thing("a")
    assert bare.degenerate(thing) is None
    assert bare.doubt(thing) == 0.0
    assert list(bare.equivalents(thing)) == list(bare.changes(thing)) == []
    assert bare.trainings() == ({},)
    assert bare.replay(thing, {}, np.array([0, 1])) is None


# Runs.


def run(**fields: Any) -> Run:
    things = (Thing("a"), Thing("b", 3.0, (LARGE,)))
    columns = {"norm": np.array([[1.0, 2.0], [np.nan, np.nan]]), "rate": np.array([[0.1], [0.2]])}
    evidence = Evidence(things, np.array([0, 5]), columns)
    return Run("toy", "two steps", things, evidence, (None, "no"), (True, False), **fields)


def test_columns_and_what_instances_know_are_attributes_of_a_run() -> None:
    found = run()
    np.testing.assert_array_equal(found.norm[0], [1.0, 2.0])
    assert found["weight"] == (2.0, 3.0)
    assert found.names == ["norm", "rate"]
    assert {"norm", "rate", "plot"} <= set(dir(found))
    np.testing.assert_array_equal(found.steps, [0, 5])
    with pytest.raises(AttributeError, match="unknown column 'nom'"):
        _ = found.nom
    with pytest.raises(AttributeError, match="_weight"):
        _ = found._weight
    assert repr(found) == "<Run of 2 instances (toy) to step 5: norm, rate>"


def test_a_column_comes_before_what_instances_know() -> None:
    things = (Thing("a"),)
    evidence = Evidence(things, np.array([0]), {"weight": np.array([[7.0]])})
    single = Run("toy", "", things, evidence, (None,), (True,))
    np.testing.assert_array_equal(single.weight, [[7.0]])
    assert repr(single) == "<Run of 1 instance (toy) to step 0: weight>"


def test_a_run_without_records_and_pictures_of_columns() -> None:
    things = (Thing("a"),)
    empty = Evidence(things, np.zeros(0, dtype=int), {"norm": np.zeros((1, 0))})
    assert "to step 0" in repr(Run("toy", "", things, empty, (None,), (True,)))
    assert run().plot("norm", band="none").axes[0].get_xscale() == "symlog"
    assert run().plot("norm", band="none", log=False).axes[0].get_xscale() == "linear"


def test_a_run_as_json() -> None:
    prediction = Prediction("a b", "c", 0.5, np.array([1.0]))
    told = run(
        extras=({"limit": 1}, {"limit": 2}),
        diverged=(None, 4),
        predictions=((prediction,), ()),
    ).document()
    assert (told["setting"], told["rule"]) == ("toy", "two steps")
    first, second = told["instances"]
    assert (first["name"], first["trained"], first["reason"]) == ("a", True, None)
    assert (first["rate"], first["limit"], first["diverged"]) == (0.1, 1, None)
    assert first["norm"].tolist() == [1.0, 2.0]
    assert first["steps"].tolist() == [0, 5]
    assert first["predictions"] == [vars(prediction)]
    assert (second["norm"], second["steps"], second["diverged"]) == ([], [], 4)
    assert second["problems"] == [{"code": "large", "where": "line 3", "message": "too large"}]
    plain = run().document()["instances"][0]
    assert (plain["diverged"], plain["predictions"]) == (None, [])
    assert "limit" not in plain


def test_a_run_as_a_long_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run().rows()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    assert run().to_pandas()[:2] == rows[:2]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="to_pandas needs pandas"):
        run().to_pandas()
    assert rows[:2] == [
        {"instance": "a", "steps": 0, "norm": 1.0, "rate": 0.1},
        {"instance": "a", "steps": 5, "norm": 2.0, "rate": 0.1},
    ]
    assert [row["rate"] for row in rows] == [0.1, 0.1, 0.2, 0.2]
    page = run()._repr_html_()
    assert "two steps; the last record of 2" in page
    assert page.index("<td>a") < page.index("<td>2") < page.index("<td>0.1") < page.index("<td>b")


# Orders.


def test_every_last_token_has_its_place() -> None:
    graph = PriorityGraph(4, (0, 4), {(0, 4): 0})
    view = OrdersView(("a",), {4: graph}, unreachable={2: (1,)}, samples={16: 3, 4: 1, 8: 2})
    assert view.queries == [2, 4, 8, 16]


def test_a_certificate_lists_what_is_not_zero() -> None:
    margin = MaxMargin(
        Status.SOLVED,
        multipliers={3: {(0, 1): Fraction(1, 2), (0, 2): Fraction(0)}, 1: {(2, 0): 0.25}},
    )
    assert list(certificate_of(margin)) == [(3, 0, 1, Fraction(1, 2)), (1, 2, 0, 0.25)]
