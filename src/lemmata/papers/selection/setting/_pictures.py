"""What a page shows of a run: the two numbers in their plane, W, attention, other lengths."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from lemmata.settings import Attention, Chart, Heat, Phase, Picture, Plane, Run

from ..theory import best_alpha, kappa, missed, two_level_loss
from ._forecast import loss_elsewhere
from ._trained_plan import TrainedPlan

MOST_POSITIONS = 16
MOST_ROWS = 40
"""Of a matrix that is shown."""

MOST_HEADS = 4
"""Whose matrices are shown."""

READING = "Rows and columns x are coordinates of tokens, e those of their positions."
EXPECTED = "Theory expects a diagonal among the positions, and nothing elsewhere."

LENGTHS = (0.5, 1, 2, 4, 8, 16)
"""Other lengths, as multiples of T."""

Records = Float[np.ndarray, "records"]


def pictures(run: Run, i: int) -> Sequence[Picture]:
    """Of descent in two numbers, all of them; of training on samples, W as it is."""
    trained: TrainedPlan = run.model[i]
    if trained.online is not None:
        return list(_sampled(trained))
    if "C" not in trained.series:
        return []
    return [_plane(trained), *_weights(trained), *_attention(trained), *_lengths(trained)]


def _plane(trained: TrainedPlan) -> Plane:
    alpha, C = trained.series["alpha"], trained.series["C"]
    T, q, d = trained.plan.T, trained.plan.q, trained.plan.d
    known = C[np.isfinite(C)]
    lines = {}
    if trained.plan.kind == "one-hot" and len(known):
        grid = np.linspace(min(0.0, float(known.min())), float(known.max()), 200)
        lines["α*, where α would rest"] = (
            grid,
            np.asarray(best_alpha(missed(grid, T, q), T, q)),
        )
    level = 1 - float(kappa(T, q, d, trained.plan.epsilon)) / 10
    return Plane(
        "The two numbers",
        "Gradient descent moves along this path. First alpha, the size of the output, overshoots; "
        "then C, the sharpness of attention, grows and alpha returns to 1. Phase I of the proof "
        "ends where alpha reaches 1 - κ/10; the last stretch has a loss below eps.",
        "C (how sharp attention is)",
        "α (size of the output)",
        C,
        alpha,
        _phases(alpha, trained.series["loss"], level, trained.plan.epsilon),
        lines,
    )


def _phases(alpha: Records, loss: Records, level: float, epsilon: float) -> tuple[Phase, ...]:
    """Phases I and II of the proof of Theorem D.4, and what comes after."""
    last = len(alpha) - 1
    grown = _first(alpha >= level, last)
    done = max(_first(loss <= epsilon, last), grown)
    phases = [Phase("Phase I", 0, grown), Phase("Phase II", grown, done), Phase("done", done, last)]
    return tuple(phase for phase in phases if phase.last > phase.first)


def _first(where: np.ndarray, otherwise: int) -> int:
    places = np.flatnonzero(where)
    return int(places[0]) if len(places) else otherwise


def _weights(trained: TrainedPlan) -> Iterator[Heat]:
    """The part of W between positions: C (I - 11'/T), or C I in the dimensions of encodings."""
    plan, C = trained.plan, trained.series["C"]
    size = plan.T if plan.d_e is None else plan.d_e
    if size > MOST_ROWS:
        return
    centred = np.eye(size) - (1 / size if plan.kind == "one-hot" else 0.0)
    names = tuple(str(n + 1) for n in range(size))
    yield Heat(
        "W appears",
        "The part of W between positions (or coordinates of their encodings). Each position comes "
        "to match itself, and nothing else: a diagonal.",
        names,
        names,
        C[:, None, None] * centred,
    )


def _attention(trained: TrainedPlan) -> Iterator[Attention]:
    off = trained.series["missed"]
    if trained.plan.kind != "one-hot":
        return
    T, q = trained.plan.T, trained.plan.q
    inside = np.arange(T) < q
    weights = np.where(inside, (1 - off[:, None]) / q, off[:, None] / (T - q))
    names = tuple(f"chosen {k + 1}" if k < q else f"other {k + 1 - q}" for k in range(T))
    most = max(MOST_POSITIONS, q + 1)
    title = f"should select the {q} chosen of {T} positions, evenly; all others get the same"
    if most < T:
        title += f" ({T - most} more of them are not shown)"
    yield Attention(title, names[:most], weights[:, :most], tuple(range(q)))


def _lengths(trained: TrainedPlan) -> Iterator[Chart]:
    """The loss on sequences of other lengths, with what was learnt at T."""
    plan, alpha, C = trained.plan, trained.series["alpha"], trained.series["C"]
    if plan.kind == "given":
        return
    lengths = sorted(
        {round(plan.T * times) for times in LENGTHS} | {T for T, _ in plan.training.tests}
    )
    losses = {T: loss_elsewhere(plan, alpha, C, T=T, q=plan.q) for T in lengths if plan.q < T}
    known = {T: loss for T, loss in losses.items() if loss is not None}
    if not known:
        return
    even = [float(two_level_loss(1.0, (T - plan.q) / T, T, plan.q, plan.d)) for T in known]
    yield Chart(
        "Other lengths",
        f"The loss on sequences of another length, with what was learnt at T = {plan.T}. Dashed: "
        "the mean of all tokens as an answer, where attention is still even.",
        "T, the length",
        "loss",
        tuple(known),
        {"loss": np.stack(list(known.values()), axis=1)},
        {"even attention": np.array(even)},
        log_x=True,
        log_y=True,
    )


def _shares(numbers: dict[str, Float[np.ndarray, "heads records"]]) -> Chart:
    """What each of several heads adds, and how much it misses."""
    return Chart(
        "What each head does",
        "No theorem covers several heads. One with an alpha below 0 subtracts what it attends to, "
        "such as what another attends to in vain.",
        "head",
        "alpha, and attention missed",
        tuple(f"head {h + 1}" for h in range(len(numbers["alpha"]))),
        {"alpha": numbers["alpha"].T, "attention missed": numbers["missed"].T},
        dots=True,
    )


def _sampled(trained: TrainedPlan) -> Iterator[Picture]:
    online = trained.online
    assert online is not None
    if "heads" in trained.losses:
        yield _shares(trained.losses["heads"])
    kept = online.recording
    if kept.states is None or np.shape(online.weights.W)[-1] > MOST_ROWS:
        return
    moments = [replace(online, recording=kept.moment(n)) for n in range(len(kept.steps))]
    W = np.stack([np.asarray(moment.weights.W, dtype=float) for moment in moments])
    d, heads = trained.plan.d, online.how.heads
    names = tuple(f"x{n + 1}" if n < d else f"e{n + 1 - d}" for n in range(W.shape[-1]))
    if heads == 1:
        yield Heat("W appears", f"{READING} {EXPECTED}", names, names, W)
        return
    for h in range(min(heads, MOST_HEADS)):
        title, says = f"W of head {h + 1} of {heads}", f"{READING} No theorem covers several heads."
        yield Heat(title, says, names, names, W[:, h])
