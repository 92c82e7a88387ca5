"""Instances in a terminal and in a notebook: short, whole where that fits, and escaped."""

import pytest

import lemmata as lm


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("mechanics", ["8 tokens", "4 samples of up to 6 tokens"]),
        ("convergence", ["20 tokens", "samples of up to"]),
        ("selection", ["T = ", "q = ", "eta = "]),
        ("context", ["N = ", "tau = ", "H = "]),
    ],
)
def test_an_instance_shows_its_sizes_in_a_line(key: str, words: list[str]) -> None:
    (drawn,) = lm.draw(key, 1)
    assert len(repr(drawn)) < 150
    assert all(word in repr(drawn) for word in words)
    assert all(word in drawn._repr_html_() for word in words)
    assert len(drawn._repr_html_()) < 5_000


TRAINED = {
    "mechanics": {},
    "mechanics, flow": {"algorithm": "flow"},
    "convergence": {},
    "convergence, joint": {"algorithm": "joint"},
    "convergence, factored": {"algorithm": "factored"},
    "selection": {},
    "context": {},
    "context, encoder": {"algorithm": "adam", "layers": 2},
}


@pytest.mark.parametrize("name", TRAINED)
def test_what_a_setting_keeps_of_training_is_shown_in_a_line(name: str) -> None:
    run = lm.train(lm.draw(name.split(",")[0], 1), steps=3, **TRAINED[name])
    parts = run.model if isinstance(run.model, tuple) else [run.model]
    for part in (*parts, run, run.evidence, run.weights):
        assert len(repr(part)) < 250
        assert "array(" not in repr(part)


def test_a_run_on_samples_and_its_recording_are_shown_in_a_line() -> None:
    plan = lm.selection.Plan("p", lm.selection.Task(6, 2, 1), 0.1, 1e-2)
    (trained,) = lm.train(plan, steps=3, algorithm="sgd").model
    assert repr(trained).startswith("<TrainedPlan p: loss, alpha, ")
    assert repr(trained.online).startswith("<TrainingRun to step 3: C, advantage, ")
    assert repr(trained.online.recording).startswith("<Recording of 4 steps up to 3: C, ")
    task = lm.draw("context", 1)[0].task
    assert repr(task).startswith("<Task drawn 0: N=5 K=11 d=6 m=2 tau=0.033 H=8: N = 5, K = 11, ")


def test_a_notebook_shows_samples_one_by_one_and_escapes_them() -> None:
    sentences = [f"<b> w{i} <b>" for i in range(20)]
    page = lm.mechanics.Dataset.from_sentences("mine", sentences)._repr_html_()
    assert "sequences[11]" in page
    assert "sequences[12]" not in page
    assert "and 8 more" in page
    assert "<b>" not in page
