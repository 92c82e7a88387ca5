"""Datasets, their generators, and what every dataset must look like."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from oracles import structure
from oracles.golden import cases

from lemmata._errors import InputError
from lemmata.margin import Status
from lemmata.papers.convergence.setting import (
    Dataset,
    Joint,
    Realizable,
    Rejection,
    Samples,
    TwoStage,
    example_1,
    generate,
)
from lemmata.tokens import Instance, Role, TokenData

REALIZABLE = {
    "defaults": Realizable(),
    "two tokens": Realizable(vocabulary=2, longest=8),
    "three tokens, shortest sentences": Realizable(vocabulary=3, longest=2),
    "no reflection": Realizable(vocabulary=8, reflect=0.0),
    "always reflected": Realizable(vocabulary=8, reflect=1.0),
    "reflected by one": Realizable(vocabulary=8, reflect=1.0, depth=1),
    "no depth": Realizable(vocabulary=8, reflect=1.0, depth=0),
    "many cycles": Realizable(vocabulary=9, cycles=4),
    "as many cycles as tokens": Realizable(vocabulary=4, cycles=4),
    "copies": Realizable(vocabulary=6, copies=3),
    "full length": Realizable(vocabulary=6, random_lengths=False, longest=12),
}
REJECTION = {
    "defaults": Rejection(),
    "two tokens": Rejection(vocabulary=2, longest=8),
    "few sentences": Rejection(vocabulary=5, sentences=3),
    "never stopping": Rejection(vocabulary=5, stop=0.0, longest=12),
}
SEEDS = range(4)


def pairs_of(data: TokenData) -> list[structure.Pair]:
    return [(sample.tokens, sample.label) for sample in data.samples]


def collocation_of(pairs: list[structure.Pair]) -> dict[int, int]:
    return {tokens[0]: label for tokens, label in pairs if len(tokens) == 1}


def assert_realizable(data: TokenData, *, assumption_3: bool = True) -> None:
    """Every assumption, by its definition."""
    pairs = pairs_of(data)
    n = collocation_of(pairs)
    assert len({tokens for tokens, _ in pairs}) == len(pairs)
    assert sorted(n) == sorted(n.values()) == list(range(data.size))
    assert all(
        (tokens[:i], tokens[i]) in pairs for tokens, _ in pairs for i in range(1, len(tokens))
    )
    assert structure.keeps_preimages(pairs, n)
    for q in n:
        assert not structure.confused(pairs, n, q)
        assert len(structure.optimal(pairs, n, q)) <= 1
    if assumption_3:
        assert structure.keeps_assumption_3(pairs, n)


def harmless(dataset: Dataset) -> bool:
    """No broken assumption; short sentences may leave attention without a choice."""
    return {problem.code for problem in dataset.problems} <= {"nothing_to_attend"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("recipe", REALIZABLE.values(), ids=REALIZABLE)
def test_realizable_data_keeps_every_assumption(recipe, seed):
    for dataset in generate(recipe, 3, seed):
        assert_realizable(dataset.data)
        assert harmless(dataset)
        assert recipe.vocabulary == dataset.K
        assert dataset.L_max <= recipe.longest


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("recipe", REJECTION.values(), ids=REJECTION)
def test_rejection_data_keeps_every_assumption(recipe, seed):
    for dataset in generate(recipe, 3, seed):
        assert_realizable(dataset.data)
        assert harmless(dataset)
        assert recipe.vocabulary == dataset.K
        assert dataset.L_max <= recipe.longest


@pytest.mark.parametrize(
    "recipe",
    [
        Realizable(vocabulary=6, assumption_3=False, random_lengths=False),
        Rejection(vocabulary=6, assumption_3=False, stop=0.0),
    ],
)
def test_without_assumption_3_only_that_one_is_broken(recipe):
    datasets = generate(recipe, 12, 0)
    for dataset in datasets:
        assert_realizable(dataset.data, assumption_3=False)
        assert {problem.code for problem in dataset.problems} <= {"assumption_3"}
    assert sum(bool(dataset.problems) for dataset in datasets) > 3


def cycles_of(n: dict[int, int]) -> int:
    left, count = set(n), 0
    while left:
        x = left.pop()
        while n[x] in left:
            x = n[x]
            left.remove(x)
        count += 1
    return count


@pytest.mark.parametrize("cycles", [1, 2, 5, 7])
def test_the_collocation_has_the_cycles_asked_for(cycles):
    for dataset in generate(Realizable(vocabulary=7, cycles=cycles), 5, 1):
        assert cycles_of(collocation_of(pairs_of(dataset.data))) == cycles


@pytest.mark.parametrize(("reflect", "depth", "steps_back"), [(0.0, 9, {0}), (1.0, 1, {1})])
def test_the_optimal_token_is_as_far_back_as_asked(reflect, depth, steps_back):
    found = set()
    for dataset in generate(Realizable(vocabulary=9, reflect=reflect, depth=depth), 5, 2):
        pairs = pairs_of(dataset.data)
        n = collocation_of(pairs)
        for q in n:
            for best in structure.optimal(pairs, n, q):
                distance = 0
                while best != q:
                    best, distance = n[best], distance + 1
                found.add(distance)
    assert found == steps_back


def test_copies_repeat_every_start():
    for dataset in generate(Realizable(vocabulary=5, copies=4), 5, 3):
        counts = {s.tokens[0]: s.count for s in dataset.data.samples if len(s.tokens) == 1}
        assert counts == dict.fromkeys(range(5), 5)
        assert len({s.count for s in dataset.data.samples}) > 1


def test_random_lengths_only_shorten():
    lengths = {
        choice: np.mean(
            [d.L_max for d in generate(Realizable(random_lengths=choice, reflect=0.05), 10, 4)]
        )
        for choice in (True, False)
    }
    assert lengths[False] >= lengths[True]
    full = generate(Realizable(vocabulary=12, random_lengths=False, reflect=0.0), 3, 4)
    assert all(d.L_max == 10 for d in full)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "recipe",
    [Samples(), Samples(vocabulary=8, optimal=3, inputs_per_optimal=2), Samples(optimal=1)],
)
def test_samples_are_not_prefix_closed_and_break_nothing_else(recipe, seed):
    for dataset in generate(recipe, 3, seed):
        pairs = pairs_of(dataset.data)
        n = collocation_of(pairs)
        assert {problem.code for problem in dataset.problems} == {"not_prefix_closed"}
        assert structure.keeps_preimages(pairs, n)
        assert dataset.data.longest_input < recipe.longest
        for q in n:
            assert not structure.confused(pairs, n, q)
            assert len(structure.optimal(pairs, n, q)) == recipe.optimal


@pytest.mark.parametrize("recipe", [Realizable(), Rejection(), Samples()])
def test_same_seed_same_data(recipe):
    few, many = generate(recipe, 2, 5), generate(recipe, 4, 5)
    assert [d.data for d in few] == [d.data for d in many[:2]]
    assert len({d.name for d in many}) == 4
    assert many[0].data != many[1].data
    assert generate(recipe, 1, 6)[0].data != few[0].data


@pytest.mark.parametrize(
    "recipe",
    [
        Realizable(vocabulary=1),
        Realizable(vocabulary=3, cycles=4),
        Realizable(cycles=0),
        Realizable(longest=1),
        Realizable(depth=-1),
        Rejection(vocabulary=1),
        Rejection(longest=1),
        Samples(longest=2),
        Samples(vocabulary=3, optimal=5),
    ],
    ids=str,
)
def test_impossible_recipes_are_refused_in_words(recipe):
    with pytest.raises(InputError, match="cannot draw"):
        generate(recipe, 3, 0)


def permutations_up_to_names(size: int) -> list[dict[int, int]]:
    cycle_types = {
        2: [[[0], [1]], [[0, 1]]],
        3: [[[0], [1], [2]], [[0, 1], [2]], [[0, 1, 2]]],
    }
    return [
        {x: ring[(i + 1) % len(ring)] for ring in rings for i, x in enumerate(ring)}
        for rings in cycle_types[size]
    ]


def consistent(pairs: list[structure.Pair], n: dict[int, int]) -> bool:
    """One next token per input, and no confused token."""
    one_label = len({tokens for tokens, _ in pairs}) == len(pairs)
    return one_label and not any(structure.confused(pairs, n, q) for q in n)


@pytest.mark.parametrize(("size", "expected"), [(2, 771), (3, 5548)])
def test_structure_theorem_by_enumeration(size, expected):
    """Prefix-closed, injective, preimages present, nobody confused: one optimal token a query,
    and the next token is a function of the last. Two sentences suffice for a counterexample."""
    tried = 0
    for n in permutations_up_to_names(size):
        starts = [((x,), n[x]) for x in n]
        sentences = [
            s
            for s in structure.sentences_of(n, 8)
            if consistent(list(dict.fromkeys(starts + structure.prefixes([s]))), n)
        ]
        for number, both in enumerate(combinations_with_replacement(sentences, 2)):
            tried += 1
            pairs = list(dict.fromkeys(starts + structure.prefixes(both)))
            if consistent(pairs, n):
                for q in n:
                    assert len(structure.optimal(pairs, n, q)) <= 1
                    assert len({y for x, y in pairs if x[-1] == q and len(set(x)) > 1}) <= 1
            if number % 23 == 0:
                compare_with_package(pairs, n)
    assert tried == expected


def compare_with_package(pairs: list[structure.Pair], n: dict[int, int]) -> None:
    """The package reads the same orders and the same problems off the data."""
    data = TokenData.from_samples([(x, y, 1, "") for x, y in pairs], range(len(n)))
    dataset = Dataset("pair", data)
    codes = {problem.code for problem in dataset.problems}
    assert dataset.collocation.following == n
    assert not codes & {"collocation_conflict", "not_prefix_closed", "preimage_not_in_sentence"}
    assert consistent(pairs, n) is not bool(codes & {"confused_token", "ambiguous_label"})
    for q in n:
        assert set(dataset.orders.having(q, Role.OPTIMAL)) == structure.optimal(pairs, n, q)


def test_golden_sizes_and_collocation(case):
    dataset = Dataset(case.name, case.data)
    assert (len(case.facts["vocabulary"]), case.facts["N"]) == (dataset.K, dataset.N)
    assert dataset.L_max == case.facts["L_max"]
    assert dataset.norm_ov == pytest.approx(np.sqrt(dataset.K - 1), rel=1e-15)
    assert dataset.norm_kq == pytest.approx(case.facts["W_kq_star"]["norm"], rel=1e-15)


def test_example_1():
    dataset = example_1()
    assert (dataset.K, dataset.N, dataset.L_max, dataset.problems) == (4, 9, 4, ())
    assert dataset.data.vocabulary == ("S", "V", "O", "P")
    assert dataset.attention_status is Status.SOLVED


def codes(dataset: Dataset) -> set[str]:
    return {problem.code for problem in dataset.problems}


def test_problems_that_only_the_paper_knows():
    assert "single_token" in codes(Dataset.from_sentences("one", ["aa"]))
    assert codes(Dataset.from_sentences("pairs", ["ab", "ba"])) == {"nothing_to_attend"}
    skew = Dataset("skew", example_1().data, 2 * np.eye(4))
    assert codes(skew) == {"embeddings_not_orthonormal"}
    assert "by 3" in skew.broken("embeddings_not_orthonormal")[0].message
    assert not skew.orthonormal
    started = Dataset("started", example_1().data, np.eye(4), np.ones((4, 4)))
    assert codes(started) == {"initial_weights_not_zero"}
    assert codes(Dataset("zero", example_1().data, np.eye(4), np.zeros((4, 4)))) == set()
    assert example_1().orthonormal


def test_a_cycle_leaves_no_solution():
    rows = [("a", "b", 1, ""), ("b", "a", 1, ""), ("ab", "a", 1, ""), ("bab", "b", 1, "")]
    dataset = Dataset("cycle", TokenData.from_samples(rows))
    assert dataset.attention_status is Status.INFEASIBLE
    assert np.isnan(dataset.norm_kq)


def test_inputs_with_two_labels_are_counted_once():
    rows = [("a", "b", 1, ""), ("b", "a", 1, ""), ("ab", "a", 1, ""), ("ab", "b", 1, "")]
    assert Dataset("twice", TokenData.from_samples(rows)).N == 3


def test_orthonormal_embeddings_of_a_file_are_set_aside():
    data = example_1().data
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    assert Dataset.from_instance("x", Instance(data, rotation)).embeddings is None
    assert Dataset.from_instance("x", Instance(data)).embeddings is None
    kept = Dataset.from_instance("x", Instance(data, 1.001 * rotation))
    np.testing.assert_array_equal(kept.embeddings, 1.001 * rotation)
    started = Dataset.from_instance("x", Instance(data, None, np.ones((4, 4))))
    np.testing.assert_array_equal(started.embeddings, np.eye(4))
    np.testing.assert_array_equal(started.initial_weights, np.ones((4, 4)))


@pytest.mark.parametrize(
    ("embeddings", "weights", "message"),
    [
        (np.eye(3), None, "3 embedding rows for 4 tokens"),
        (None, np.eye(3), r"shape \(3, 3\); expected \(4, 4\)"),
    ],
)
def test_shapes_of_a_file_that_do_not_fit(embeddings, weights, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_instance("x", Instance(example_1().data, embeddings, weights))


def test_words_to_predict_are_looked_up():
    assert example_1().encode(["P", "S"]) == [3, 0]
    with pytest.raises(InputError, match=r"unknown token 'X'; known: S V O P"):
        example_1().encode(["S", "X"])
    with pytest.raises(InputError, match="none given"):
        example_1().encode([])


@pytest.mark.parametrize(
    "settings",
    [
        {"steps": -1},
        {"stage1_steps": -1},
        {"rate": 0.0},
        {"rate": -1.0},
        {"rate": float("nan")},
        {"stage1_rate": float("inf")},
    ],
    ids=str,
)
def test_impossible_algorithms_are_refused_in_words(settings):
    with pytest.raises(InputError, match="must"):
        TwoStage(**settings)


def test_training_without_a_collocation_is_refused_with_the_sentence():
    conflict = Dataset.from_sentences("mine", ["ab", "ac", "ba", "cb"])
    with pytest.raises(InputError, match=r"mine: .*n\(a\) is not defined.*\[a\] -> c"):
        TwoStage(steps=1).run([conflict])
    with pytest.raises(InputError, match=r"mine: .*no sentence starts with b"):
        Joint(steps=1).run([Dataset.from_sentences("mine", ["ab"])])


def test_joint_training_is_for_orthonormal_embeddings():
    with pytest.raises(InputError, match="orthonormal"):
        Joint(steps=1).run([Dataset("skew", example_1().data, 2 * np.eye(4))])


def test_named_step_sizes():
    # Section 7 takes 0.2/sqrt(d) and 0.05/sqrt(d); the proofs allow ||W*||/e
    for rate, stage1, stage2 in (
        ("paper", 0.2 / 2, 0.05 / 2),
        ("largest", np.sqrt(3) / np.e, np.sqrt(13 / 6) / np.e),
        (0.3, 0.3, 0.3),
    ):
        found = TwoStage(stage1_rate=rate, rate=rate, stage1_steps=1, steps=1).run([example_1()])
        assert found.rate_ov[0] == pytest.approx(stage1, rel=1e-15)
        assert found.rate_kq[0] == pytest.approx(stage2, rel=1e-15)
        assert found.stage1.series["norm"][0].tolist() == pytest.approx([0, stage1], rel=1e-14)
        assert found.stage2.series["norm"][0].tolist() == pytest.approx([0, stage2], rel=1e-14)


def test_the_golden_datasets_that_keep_all_assumptions_have_one_optimal_token_a_query():
    for case in cases().values():
        kept = case.facts["assumption1"] and case.facts["prefix_closed"]
        largest = max(len(t["optimal"]) for t in case.facts["types"].values())
        dataset = Dataset(case.name, case.data)
        found = max(len(dataset.orders.having(q, Role.OPTIMAL)) for q in range(dataset.K))
        assert found == largest
        if kept:
            assert found == 1
