"""The bench keeps evidence apart by experiment, not by name."""

from lemmata.old_claims import Bench, Experiment


def test_experiments_of_two_papers_may_share_a_name():
    bench = Bench()
    first = Experiment("structures", "one paper's", lambda bench: "one")
    second = Experiment("structures", "another's", lambda bench: "two")
    assert [bench.evidence(first), bench.evidence(second)] == ["one", "two"]


def test_an_experiment_runs_once():
    runs = []
    experiment = Experiment("counted", "appends", lambda bench: runs.append(1) or len(runs))
    bench = Bench()
    assert [bench.evidence(experiment), bench.evidence(experiment)] == [1, 1]
