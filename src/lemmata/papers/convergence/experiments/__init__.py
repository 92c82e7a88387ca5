"""The experiments behind claims and figures: instances, how they are trained, what is measured."""

from dataclasses import replace

from lemmata.claims import Experiment, Several

from .. import theory
from ..counterexamples import label_out_of_reach, shared_next_token, skewed, without_preimage
from ..setting import Dataset, Joint, Realizable, Rejection, Samples, TwoStage, example_1
from ._floors import ambiguous, growing
from ._instances import Drawn as Drawn
from ._instances import Fixed as Fixed
from ._instances import Part, SmallSentences
from ._measures import (
    algorithm_1,
    asked,
    from_anywhere,
    joint_training,
    past_lemma_7,
    stage_1,
    stage_2,
    stage_2_and_rays,
    structures,
    trained_models,
)
from ._measures import followed as followed
from ._points import loss as loss
from ._points import printed_formulas, random_points
from ._proofs import along_runs, anywhere, at_start
from ._updates import single_updates

PAPER_DATA = Drawn(Realizable(), 100)
TWO_TOKENS = Fixed((Dataset.from_sentences("abab", ["abab", "ba"]),))
EXAMPLE_DATA = Fixed((example_1(),))
SMALL_DATA = Several(
    (EXAMPLE_DATA, TWO_TOKENS, Drawn(Realizable(vocabulary=6, longest=5, copies=3), 2))
)
SPECIAL_DATA = Several(
    (
        SMALL_DATA,
        Drawn(Realizable(vocabulary=12, cycles=3, reflect=0.6), 2),
        Drawn(Rejection(vocabulary=10, sentences=30), 2),
    )
)
ALL_DATA = Several((SPECIAL_DATA, PAPER_DATA))
SIXTEEN = Several((SPECIAL_DATA, Drawn(Realizable(), 8)))

STRUCTURES = Experiment(ALL_DATA, structures)
PAPER_STRUCTURES = Experiment(PAPER_DATA, structures, own=True)
ALL_SENTENCES = Experiment(
    Several((SmallSentences(4, 4), Drawn(Rejection(vocabulary=6, longest=8), 200))), structures
)
"""Sentences that are grown token by token, whatever token they attend to."""

SMALL_STRUCTURES = Experiment(
    Several(
        (
            SMALL_DATA,
            Drawn(Realizable(vocabulary=5, longest=6), 10),
            *(Drawn(Samples(6, optimal), 5) for optimal in (1, 2, 3)),
        )
    ),
    structures,
)
EXAMPLE_STRUCTURE = Experiment(EXAMPLE_DATA, structures, own=True)
SAMPLE_LEVEL = Experiment(
    Several(
        (
            Fixed((shared_next_token(), label_out_of_reach())),
            *(Drawn(Samples(K, optimal), 10) for K in (6, 9, 20) for optimal in (1, 2, 3)),
        )
    ),
    structures,
)
RANDOM_POINTS = Experiment(Several((SPECIAL_DATA, Drawn(Realizable(), 6))), random_points)
PRINTED = replace(RANDOM_POINTS, measure=printed_formulas)

FREE = ("rate", "steps", "stage1_rate", "stage1_steps")
"""What a statement about Algorithm 1 with any steps leaves open."""

TRAINING = Experiment(ALL_DATA, stage_2, TwoStage())
AND_RAYS = replace(
    TRAINING, measure=stage_2_and_rays, free=("steps", "stage1_rate", "stage1_steps")
)
"""With step sizes in stage 2 that are below O(1)."""

FIRST_STAGE = Experiment(ALL_DATA, stage_1, TwoStage())
ANY_STEPS = replace(TRAINING, free=FREE)
UPDATES = Experiment(
    SMALL_DATA, single_updates, TwoStage(stage1_steps=20, steps=3, rate=0.3, stage1_rate=0.3)
)
FROM_ANYWHERE = Experiment(SMALL_DATA, from_anywhere, TwoStage(stage1_steps=1_000, steps=0))
LARGE_STEPS = Experiment(
    SIXTEEN, past_lemma_7, TwoStage(steps=200, rate="largest"), free=("rate", "stage1_steps")
)
LONG = TwoStage(steps=5_000, rate=0.2, record="log")
LONG_DATA = Several(
    (SIXTEEN, Drawn(Realizable(vocabulary=8, assumption_3=False, random_lengths=False), 4))
)
LONG_RUN = Experiment(LONG_DATA, stage_2, LONG)
TRAINED_MODELS = Experiment(LONG_DATA, trained_models, LONG)
T_FOR_TWO = int(theory.corollary_1_steps(eta0=0.5, n=1.0, K=2))
"""As long as Corollary 1 asks with two tokens, where ||W_ov*|| is 1."""

LONG_STAGE_1 = Experiment(
    TWO_TOKENS,
    stage_1,
    TwoStage(stage1_steps=T_FOR_TWO, stage1_rate=0.5, steps=1, record="log"),
)
LONG_ENOUGH = Experiment(
    Several((TWO_TOKENS, Fixed((Dataset.from_sentences("aba", ["aba", "ba"]),)))),
    stage_2_and_rays,
    TwoStage(stage1_steps=T_FOR_TWO, stage1_rate=0.5, rate="largest", record="log"),
)
WITHOUT_ASSUMPTION_3 = Experiment(
    Several(
        (
            Drawn(Realizable(assumption_3=False, random_lengths=False), 10),
            Drawn(Realizable(vocabulary=5, assumption_3=False, random_lengths=False), 10),
        )
    ),
    stage_2,
    TwoStage(steps=200, rate=0.05),
    free=FREE,
)
PROOF_DATA = Several((SPECIAL_DATA, Drawn(Realizable(), 2)))
ALONG_RUNS = Experiment(PROOF_DATA, along_runs, TwoStage(steps=100, rate="largest"))
"""Where the proofs of Lemmas 5 to 7 are, with the largest step that they allow."""

AT_START = Experiment(PROOF_DATA, at_start)
ANYWHERE = Experiment(PROOF_DATA, anywhere)
ONE_WAITS = Experiment(Fixed((skewed(-400.0),)), along_runs, TwoStage(steps=45, rate=5.0))
"""One input is so rare that the others run ahead of it: type 2 of the proof of Lemma 7."""

AMBIGUOUS = Experiment(
    Fixed(
        (
            Dataset.from_sentences("ab, ac, ba, ca", ["ab", "ac", "ba", "ca"]),
            Dataset.from_sentences("abb, aab, ba", {"a b b": 3, "a a b": 1, "b a": 2}),
            without_preimage()[0],
            label_out_of_reach(),
        )
    ),
    ambiguous,
)
GROWING = Experiment(SMALL_DATA, growing, TwoStage(rate=0.2, record="log"))

EXAMPLE = Experiment(Part(EXAMPLE_DATA, ALL_DATA), asked, TwoStage(), own=True)
EXAMPLE_RUN = replace(EXAMPLE, measure=algorithm_1)
PAPER_RUN = Experiment(Part(PAPER_DATA, ALL_DATA), algorithm_1, TwoStage(), own=True)
PAPER_STAGES = replace(PAPER_RUN, measure=stage_1), replace(PAPER_RUN, measure=stage_2)
FASTER_RUN = Experiment(PAPER_DATA, algorithm_1, TwoStage(rate=0.5, record=(900,)), own=True)
JOINT_RUN = Experiment(Drawn(Realizable(), 26, 100), joint_training, Joint(steps=1_800), own=True)
"""As many updates as both stages of Section 7 take together."""
