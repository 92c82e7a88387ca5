"""The setting as users meet it: reading, drawing, analysing, training, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import numpy as np
import pytest

from lemmata._errors import InputError
from lemmata.papers.convergence.setting import (
    REALIZABLE,
    SETTING,
    Dataset,
    Joint,
    TwoStage,
    example_1,
)
from lemmata.tokens import Role

EXAMPLE = "S V O P\nV O P\nO P P\nP S V\n"


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Without the checks of types that tests add: a user meets our own words."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def write(folder: Path, name: str, content: str | dict) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_text_sentence_contributes_all_of_its_prefixes(tmp_path: Path):
    (dataset,) = SETTING.read(write(tmp_path, "data.txt", EXAMPLE))
    assert dataset.name == "data"
    assert [(s.tokens, s.label, s.count) for s in dataset.data.samples] == [
        (s.tokens, s.label, s.count) for s in example_1().data.samples
    ]


def test_what_is_written_is_read_back(tmp_path: Path):
    rows = np.array([[1.0, 0.0], [0.6, 0.8]])
    skew = Dataset.from_samples(
        "skew", [[0], [1], [0, 1]], [1, 0, 0], embeddings=rows, initial_weights=np.ones((2, 2))
    )
    documents = [example_1().document(), skew.document()]
    assert list(documents[0]) == ["sequences", "labels"]
    back = SETTING.read(write(tmp_path, "data.json", {"instances": documents}))
    assert [dataset.name for dataset in back] == ["instance 0", "instance 1"]
    assert [dataset.document() for dataset in back] == documents


def test_counts_and_log_frequencies_are_written(tmp_path: Path):
    counted = Dataset.from_sentences("m", {"a b a": 1000, "b a b": 1})
    assert counted.document() == {
        "sequences": [["a"], ["a", "b"], ["b"], ["b", "a"]],
        "labels": ["b", "a", "a", "b"],
        "counts": [1000, 1000, 1, 1],
    }
    np.testing.assert_allclose(counted.frequencies, np.array([1000, 1000, 1, 1]) / 2002)
    again = Dataset.from_samples("m", *counted.document().values())
    assert again.document() == counted.document()
    (read,) = SETTING.read(write(tmp_path, "counts.json", counted.document()))
    assert read.document() == counted.document()
    skewed = Dataset.from_samples("s", ["a", "b"], ["b", "a"], log_frequencies=[-1e9, 0.0])
    assert skewed.document()["log_frequencies"] == [-1e9, 0.0]
    np.testing.assert_array_equal(skewed.frequencies, [0.0, 1.0])
    (read,) = SETTING.read(write(tmp_path, "skewed.json", skewed.document() | {"name": "mine"}))
    assert read.document() == skewed.document()
    assert read.name == "mine"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"log_frequencies": [0.0]}, "one number a sequence"),
        ({"log_frequencies": [0.0, "x"]}, "one number a sequence"),
        ({"log_frequencies": [0.0, 0.0], "counts": [1, 1]}, "not both"),
        ({"log_frequencies": [0.0, 0.0], "sequences": [["a"], ["a"]]}, "only once"),
    ],
    ids=str,
)
def test_log_frequencies_that_cannot_be(tmp_path: Path, more: dict, message: str):
    document = {"sequences": [["a"], ["b"]], "labels": ["b", "b"]} | more
    with pytest.raises(InputError, match=message):
        SETTING.read(write(tmp_path, "data.json", document))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dataset.from_sentences("x", {"a b": 0}), "whole number from 1 on; got 0"),
        (lambda: Dataset.from_sentences("x", {"a b": 1.5}), "whole number from 1 on; got 1.5"),
        (lambda: Dataset.from_samples("x", ["a"], ["b"], [1, 2]), "1 sequences, 1 labels and 2"),
        (
            lambda: Dataset.from_samples("x", ["a"], ["b"], log_frequencies=[0, 0]),
            "2 log frequencies for 1 distinct",
        ),
        (lambda: TwoStage(rule="adam"), r"unknown rule 'adam' \(known: ngd, gd\)"),
        (lambda: TwoStage(rate="papre"), r"did you mean 'paper'\?"),
        (lambda: TwoStage(stage1_rate="x"), "known: a number, paper, largest"),
        (lambda: TwoStage(record="evry"), "known: every, log"),
        (lambda: Joint(rate="papre"), r"did you mean 'paper'\?"),
        (lambda: Joint(steps=-1), "must not be negative"),
        (lambda: SETTING.hypothesis("realisable"), r"did you mean 'realizable'\?"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_is_refused_in_words(make, message: str):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "NGD"}, "known: ngd, gd, factored, joint"),
        ({"epsilon": 0.5}, r"unknown option.*'epsilon'; it takes .*stage1_rate \(--stage1-lr\)"),
        ({"rate": "nonsense"}, "known: a number, paper, largest"),
        ({"steps": -1}, "must not be negative"),
        ({"record": (1000,)}, "0 to 900; got 1000 to 1000"),
        ({"predict": ("S X",)}, "unknown token 'X'; known: S V O P"),
        ({"algorithm": "joint", "stage1_steps": 5}, "no effect with algorithm joint"),
        ({"algorithm": "joint", "stage1_rate": 0.1}, "no effect with algorithm joint"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("unchecked")
def test_options_that_do_not_fit_are_refused_before_training(options: dict, message: str):
    with pytest.raises(InputError, match=message):
        SETTING.train([example_1()], options)


def test_words_of_the_command_line_become_values():
    options = {option.name: option for option in SETTING.options}
    assert options["rate"].read("0.5") == 0.5
    assert options["rate"].read("largest") == "largest"
    assert options["record"].read("1,10") == (1, 10)
    with pytest.raises(InputError, match=r"--stage1-lr takes a number.*got 'x'"):
        options["stage1_rate"].read("x")


def test_the_analysis_has_values_and_a_document():
    analysis = SETTING.analyze(example_1())
    assert analysis.collocation.following == {0: 1, 1: 2, 2: 3, 3: 0}
    assert analysis.orders.having(3, Role.OPTIMAL) == [2]
    assert str(analysis.attention_margin.norm_squared_exact) == "13/6"
    assert str(analysis.value_margin.norm_squared_exact) == "3"
    assert analysis.realizable
    assert analysis.acyclic
    assert list(analysis.document()) == [
        "vocabulary",
        "samples",
        "distinct_inputs",
        "longest_sentence",
        "realizable",
        "acyclic",
        "problems",
        "assumptions",
        "collocation",
        "queries",
        "roles",
        "max_margin",
        "max_margin_ov",
        "cyclic_correction",
        "frequencies",
        "outlook",
        "degeneracy",
    ]
    view = analysis.orders_view()
    assert view.collocation == analysis.collocation.following
    assert [limit.margin for limit in view.limits] == [
        analysis.attention_margin,
        analysis.value_margin,
    ]
    assert view.facts["longest_sentence"] == 4
    texts = [str(item) for item in analysis.describe()]
    assert "collocation: S → V, V → O, O → P, P → S" in texts
    assert "W_kq*: solved, norm 1.47196014, ‖·‖² = 13/6" in texts


def test_realizable_means_the_same_in_the_analysis_and_as_a_hypothesis():
    for sentences in (["ac", "bc", "ca"], ["bcc", "abcb", "ca"], ["aba", "bc", "ca"], ["ab", "ba"]):
        dataset = Dataset.from_sentences("x", sentences)
        assert SETTING.analyze(dataset).realizable is not bool(REALIZABLE.broken(dataset.problems))
    assert SETTING.analyze(Dataset.from_sentences("x", ["ab", "ba"])).realizable
    assert not SETTING.analyze(Dataset.from_sentences("x", ["aba", "bc", "ca"])).realizable
    assert SETTING.hypothesis("realizable") is REALIZABLE
    assert all(not dataset.problems for dataset in SETTING.draw(3, seed=1))


@pytest.fixture(scope="module")
def run():
    untrainable = Dataset.from_sentences("mine", ["ab"])
    options = {"steps": 20, "stage1_steps": 10, "rate": 0.3, "record": (2, 10), "predict": "S P"}
    both = [example_1(), untrainable]
    with pytest.raises(InputError, match="unknown token 'S', 'P'; known: a b"):
        SETTING.train(both, options)
    return SETTING.train(both, {**options, "predict": None})


def test_a_run_has_every_column_as_an_attribute(run):
    names = {"log_loss", "norm", "correlation", "one_minus_correlation", "log_gradient_norm"}
    assert names <= set(run.names)
    assert set(run.names) - {"rate"} <= {column.name for column in SETTING.columns}
    assert run.steps.tolist() == [2, 10, 20]
    assert run.norm.shape == (2, 3)
    assert run.rate.shape == (2, 1)
    assert run.rate[0, 0] == 0.3
    np.testing.assert_array_equal(run.correlation, 1 - run.one_minus_correlation)
    assert "20 steps of size 0.3 on W_kq" in run.rule
    with pytest.raises(AttributeError, match=r"did you mean 'norm'\?"):
        _ = run.nrm


def test_what_cannot_be_trained_says_why(run):
    assert run.trained == (True, False)
    assert run.reasons[0] is None
    assert "no sentence starts with b" in run.reasons[1]
    assert np.isnan(run.norm[1]).all()


def test_a_run_records_what_the_algorithm_did(run):
    direct = TwoStage(stage1_steps=10, steps=20, rate=0.3, record=(2, 10)).run([example_1()])
    np.testing.assert_array_equal(run.norm[0], direct.stage2.series["norm"][0])
    np.testing.assert_array_equal(run.log_loss[0], direct.stage2.series["log_loss"][0])
    extras = run.extras[0]
    assert extras["stage1_rate"] == pytest.approx(0.1)
    assert extras["stage1"]["norm"].tolist() == direct.stage1.series["norm"][0].tolist()
    assert extras["cyclic_distance"] is None
    distribution = direct.predict(0, [0, 3])
    assert run.model.predict(0, [0, 3]).tolist() == distribution.tolist()


def test_joint_training_records_both_layers():
    run = SETTING.train([example_1()], {"algorithm": "joint", "steps": 12, "record": (3, 7)})
    assert run.steps.tolist() == [3, 7]
    assert run.value_norm.shape == (1, 2)
    direct = Joint(steps=12).run([example_1()]).recording
    np.testing.assert_array_equal(run.norm, direct.series["norm"][:, [3, 7]])
    assert "smallest_weight" not in run.names
    assert "together: 12 steps of size 0.2/sqrt(|V|)" in run.rule


def test_forecasts_are_of_datasets_without_problems():
    """Stage 1 goes straight on; each of the 4 tokens is ahead by T eta_0 / sqrt(3) then."""
    plain = example_1()
    started = Dataset("started", plain.data, np.eye(4), np.full((4, 4), 0.1))
    options = {"stage1_steps": 10, "stage1_rate": 0.3, "rate": 0.2, "steps": 20, "record": (0, 5)}
    run = SETTING.train([plain, started], options)
    said = {found.column: found.values for found in SETTING.forecasts(run, 0)}
    assert set(said) == {"correlation", "norm", "one_minus_correlation", "log_loss"}
    moved = 0.2 * np.array([np.nan, 5, 20])
    np.testing.assert_array_equal(said["correlation"], 1.0)
    np.testing.assert_allclose(said["norm"], moved, rtol=1e-13)
    np.testing.assert_allclose(said["one_minus_correlation"], 0.25062760821954805 / moved**2)
    floor = np.log(np.log1p(3 * np.exp(-10 * 0.3 / np.sqrt(3))))
    np.testing.assert_allclose(said["log_loss"], floor, rtol=1e-9)
    assert run.trained[1]
    assert SETTING.forecasts(run, 1) == []
    for algorithm, columns in (("joint", ["correlation"]), ("factored", [])):
        other = SETTING.train([plain], {"algorithm": algorithm, "steps": 3, "record": (1,)})
        assert [found.column for found in SETTING.forecasts(other, 0)] == columns


def test_the_page_names_every_hypothesis_option_and_column():
    page = (Path(__file__).parents[3] / "docs" / "convergence.md").read_text()
    known = (*SETTING.hypotheses, *SETTING.options, *SETTING.columns)
    assert [each.name for each in known if f"| `{each.name}` |" not in page] == []
