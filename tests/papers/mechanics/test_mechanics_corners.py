"""Corners that went wrong once: extreme sizes, empty problems, other names for the same loss."""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from mpmath import mp, mpf
from oracles.recorded import recorded
from oracles.terminal import run

from lemmata._errors import InputError
from lemmata.attention import FLAT, SQUARED
from lemmata.margin._many import WeightedGraph, separate_all
from lemmata.papers.mechanics.setting import (
    LOCAL,
    Dataset,
    Training,
    flow,
    generate,
    path,
    pseudo_limits,
)
from lemmata.papers.mechanics.setting._problems import MOST_PROBLEMS, shortened
from lemmata.tokens import Problem


@pytest.mark.parametrize("log_gap", [-6.0, -10.0, -12.0, -13.8])
@pytest.mark.parametrize("top", [1.0, 0.5])
def test_the_flat_loss_between_small_and_tiny(log_gap, top):
    found = FLAT.log_excess(jnp.array([top]), jnp.array([log_gap]))
    with mp.workdps(60):
        base, gap = 1 - mpf(top), mp.exp(mpf(log_gap))
        expected = float(mp.log(gap - mp.atan(base + gap) + mp.atan(base)))
    assert float(found[0]) == pytest.approx(expected, abs=1e-12)


def test_a_shape_means_the_same_as_its_name():
    datasets = generate(LOCAL, 6, 9)
    draw = [np.random.default_rng(i).standard_normal((8, 8)) for i in range(6)]
    by_name, by_shape = (
        pseudo_limits(
            datasets,
            [4 * W for W in draw],
            Training(loss=loss, head="embedding", steps=1),
            "selected",
        )
        for loss in ("squared", SQUARED)
    )
    for a, b in zip(by_name, by_shape, strict=True):
        np.testing.assert_allclose(a.finite, b.finite, atol=1e-12)


def test_no_graphs_and_no_edges():
    assert separate_all([]) == []
    (found,) = separate_all([WeightedGraph([], {1: 4}, {1: 0, 2: 0})])
    assert found is not None
    assert (found.values, found.multipliers) == ({1: 0, 2: 0}, {})


def test_the_path_answers_at_the_ridges_asked_for_and_in_their_order():
    dataset = recorded("chain3").dataset
    curve = path(dataset, np.array([2.0, 0.0]))
    assert curve.norm[0] > curve.norm[1]
    # at a ridge of e^5 the point is -gradient(0) / e^5 to first order
    size = np.linalg.norm(recorded("chain3").facts["grad_at_zero"])
    assert path(dataset, np.array([-5.0])).norm[0] == pytest.approx(size * np.exp(-5), rel=0.01)


def test_flow_to_time_zero_is_the_start():
    assert flow(recorded("chain3").dataset, np.array([0.0])).norm == [0.0]


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_embeddings_of_extreme_size_are_refused(tmp_path: Path, size):
    document = {
        "sequences": [[0, 1], [1, 0]],
        "labels": [0, 1],
        "embeddings": [[size, 0.0], [0.0, size]],
    }
    file = tmp_path / "data.json"
    file.write_text(json.dumps(document))
    with np.errstate(all="ignore"):
        done = run("analyze", file, "--json")
    assert done.returncode == 2
    assert "scale them" in done.words


def test_a_log_of_a_negative_score_is_refused():
    E = np.array([[1.0, 0.0], [-0.8, 0.6], [-0.8, -0.6]])
    dataset = Dataset.from_samples("negative", [[0, 1, 2]], [0], E)
    with pytest.raises(InputError):
        Training(loss="log", head="embedding", steps=1).run([dataset])


def test_a_squared_loss_that_is_not_decreasing_is_refused():
    dataset = recorded("chain3").dataset
    with pytest.raises(InputError):
        Training(loss="squared", head=2 * np.eye(3), steps=1).run([dataset])


def test_of_many_problems_of_one_kind_the_first_are_told_and_how_many_more():
    many = [Problem("far", f"sample {i}", "too far") for i in range(MOST_PROBLEMS + 3)]
    other = Problem("near", "sample 7", "too near")
    told = shortened([many, [other], many[:MOST_PROBLEMS]])
    assert told[:MOST_PROBLEMS] == told[MOST_PROBLEMS + 2 :] == tuple(many[:MOST_PROBLEMS])
    assert told[MOST_PROBLEMS].code == "far"
    assert told[MOST_PROBLEMS].message == "and 3 more like these"
    assert told[MOST_PROBLEMS + 1] == other
