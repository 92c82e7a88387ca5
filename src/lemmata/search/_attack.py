"""The attack on one claim: scopes, extremes, a climb; then shrinking and proving."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lemmata._errors import InputError, unknown_name
from lemmata.claims import Claim
from lemmata.settings import AbstractSetting, AbstractSpace, Scope

from ._finding import Finding, Outcome, Witness
from ._hunt import LONG, Hunt, Watch, is_long
from ._proofs import Proofs, is_readable
from ._score import Attempt

POPULATION, BEST, ROUNDS = 256, 32, 30
"""Of the climb: instances in a round, those that the next round varies, rounds."""

SMALL = 2
"""So many scopes come before everything else."""

AFTERWARDS, PROVING = 5.0, 0.25
"""Seconds, or the share of the budget, that shrinking and proving may take once time is up."""


def unsearchable(claim: Claim, setting: AbstractSetting[Any]) -> str | None:
    """Why no instance can break a claim; None if one can."""
    if claim.unbreakable is not None:
        return claim.unbreakable
    if claim.experiment.own:
        return "it speaks of its own instances, such as those of a figure"
    if setting.space is None:
        return f"the {setting.key} setting does not say how its instances vary"
    return None


def attack(
    claim: Claim,
    setting: AbstractSetting[Any],
    *,
    budget: float = 60.0,
    scope: Mapping[str, int] | None = None,
    seed: int = 0,
    watch: Watch = lambda line: None,
) -> Finding:
    """Look for an instance within the hypotheses that breaks the claim.

    Args:
        budget: seconds; a scope that is asked for is finished whatever it takes.
        scope: how far to go through small instances, such as K = 3, T = 3, n = 4.
        seed: everything random comes from it.
        watch: told how far it has come. An interruption gives what was found so far.
    """
    begun = time.monotonic()
    reason = unsearchable(claim, setting)
    if reason is not None:
        return Finding(claim.name, claim.statement, Outcome.NOT_SEARCHABLE, reason)
    space = setting.space
    assert space is not None
    deadline = begun + budget
    finish = deadline + max(AFTERWARDS, PROVING * budget)
    hunt = Hunt(claim, space, seed, deadline, watch, deadline=deadline, finish=finish)
    proofs = Proofs(hunt, setting, space)
    hunt.readable, hunt.prove = partial(is_readable, setting), proofs.succeed
    interrupted = False
    try:
        _search(hunt, space, begun, budget, scope)
    except KeyboardInterrupt:
        interrupted = True
    finding = _conclude(hunt, proofs, interrupted)
    return replace(finding, seconds=time.monotonic() - begun, interrupted=interrupted)


def _search(
    hunt: Hunt,
    space: AbstractSpace[Any],
    begun: float,
    budget: float,
    scope: Mapping[str, int] | None,
) -> None:
    """Until something breaks and that is proved, or time is up."""
    trainings = _free_trainings(hunt.claim, space)
    for name in scope or {}:
        if name not in space.limits:
            raise InputError(unknown_name("size in a scope of this setting", name, space.limits))
    scopes = list(space.scopes(space.limits if scope is None else {**space.limits, **scope}))
    small = scopes if scope is not None else scopes[:SMALL]
    stages: list[tuple[float, Callable[[], None]]] = [
        (0.25, lambda: _scopes(hunt, small, trainings[0], whole=scope is not None)),
        (0.4, lambda: _small_scopes(hunt, scopes[:SMALL], trainings[1:])),
        (0.55, lambda: _extremes(hunt, space, trainings[:1])),
        (0.7, lambda: _extremes(hunt, space, trainings[1:])),
        (0.85, lambda: _scopes(hunt, scopes[len(small) :], trainings[0], whole=False)),
        (1.0, lambda: _climb(hunt, space, trainings)),
    ]
    for share, stage in stages:
        hunt.ends = begun + share * budget
        stage()
        if hunt.settled or (hunt.slow is not None and time.monotonic() > hunt.deadline):
            return


def _free_trainings(claim: Claim, space: AbstractSpace[Any]) -> list[Mapping[str, Any]]:
    """Options that the claim leaves open, the usual ones first; the shortest, if these are long."""
    if claim.experiment.training is None:
        return [{}]
    free = set(claim.experiment.free)
    long = is_long(claim.experiment.training, {})
    usual = {"steps": LONG} if "steps" in free and long else {}
    allowed = [options for options in space.trainings() if set(options) <= free]
    known: list[Mapping[str, Any]] = [{**usual, **options} for options in allowed]
    return sorted(known, key=lambda options: options["steps"]) if usual else known


def _scopes(
    hunt: Hunt, scopes: Sequence[Scope[Any]], options: Mapping[str, Any], *, whole: bool
) -> None:
    for part in scopes:
        hunt.stage = part.says
        if not hunt.go_through(part.instances(), options, whole=whole):
            return
        hunt.scopes.append(part.says)
        if hunt.settled and not whole:
            return


def _small_scopes(
    hunt: Hunt, scopes: Sequence[Scope[Any]], trainings: Sequence[Mapping[str, Any]]
) -> None:
    """Small instances again, with other options of training."""
    for part in scopes:
        for options in trainings:
            hunt.stage = f"{part.says}, {', '.join(f'{k} {v}' for k, v in options.items())}"
            if not hunt.go_through(part.instances(), options, whole=False):
                return


def _extremes(
    hunt: Hunt, space: AbstractSpace[Any], trainings: Sequence[Mapping[str, Any]]
) -> None:
    hunt.stage = "extremes"
    instances = list(space.extremes())
    for options in trainings:
        hunt.go_through(instances, options, whole=False)


def _climb(hunt: Hunt, space: AbstractSpace[Any], trainings: Sequence[Mapping[str, Any]]) -> None:
    """Vary what came closest, again and again, with each training in turn.

    Of those that came equally close the latest are varied, so that it does not stay where a
    statement is attained: many are, by all runs that have settled. Numbers of a training are moved
    from the second turn on, since what breaks a statement may lie between those that are listed.
    """
    hunt.stage = "climb"
    generator = np.random.default_rng([hunt.seed, 1])
    best: list[Attempt] = []
    population = min(POPULATION, hunt.at_once)
    for number in range(ROUNDS):
        if hunt.over or hunt.settled:
            return
        options = trainings[number % len(trainings)]
        if number >= len(trainings):
            options = _moved(options, generator)
        parents = [attempt.instance for attempt in best]
        several = [
            space.vary(parents[i % len(parents)], generator)
            if parents and i < population * 3 // 4
            else space.draw(generator)
            for i in range(population)
        ]
        attempts: list[Attempt] = []
        hunt.go_through(several, options, whole=False, keep=attempts)
        best = sorted([*attempts, *best], key=lambda attempt: attempt.score)[:BEST]


def _moved(options: Mapping[str, Any], generator: np.random.Generator) -> Mapping[str, Any]:
    """With its sizes up to the next power of ten below or above, to two digits."""
    return {
        name: float(f"{value * 10 ** generator.uniform(-1, 1):.2g}")
        if isinstance(value, float)
        else value
        for name, value in options.items()
    }


def _conclude(hunt: Hunt, proofs: Proofs, interrupted: bool) -> Finding:
    claim = hunt.claim
    facts: dict[str, Any] = {
        "tried": hunt.tried,
        "set_aside": hunt.set_aside,
        "scopes": tuple(hunt.scopes),
        "closest": None if hunt.closest is None else hunt.closest.score,
        "closest_to": None if hunt.closest is None else str(hunt.closest.instance.name),
    }
    early = "; interrupted" if interrupted else ""
    if not hunt.tried and hunt.errors:
        raise hunt.errors[0]
    if not hunt.batches and hunt.slow is not None:
        reason = f"one instance alone takes {hunt.slow}: more time is needed{early}"
        return Finding(claim.name, claim.statement, Outcome.UNDECIDED, reason, **facts)
    if not hunt.tried:
        unmet = "no instance that was tried meets its hypotheses, or it says nothing of them"
        reason = f"{unmet}{early}"
        return Finding(claim.name, claim.statement, Outcome.UNDECIDED, reason, **facts)
    if hunt.broken and not hunt.settled and (hunt.fresh or proofs.witness is None):
        proofs.succeed()
    if not hunt.broken and hunt.closest is not None and hunt.closest.touches:
        reason = f"on {facts['closest_to']} the sides are equal up to rounding, and it is strict"
        return Finding(claim.name, claim.statement, Outcome.UNDECIDED, f"{reason}{early}", **facts)
    if not hunt.broken or proofs.rounding:
        near = 0.0 if hunt.broken else facts["closest"]
        reason = f"the closest of {hunt.tried:,} instances is {near:.3g} away from breaking it"
        rounded = ", up to rounding" if hunt.broken else ""
        reason += rounded + early
        return Finding(claim.name, claim.statement, Outcome.SURVIVED, reason, **facts)
    witness, worst = proofs.witness, proofs.worst
    assert witness is not None
    status = Outcome.FAILS if witness.certificate.proved else Outcome.UNDECIDED
    reason = f"{_says(witness)} ({witness.certificate.says}){early}"
    return Finding(claim.name, claim.statement, status, reason, witness, worst, **facts)


def _says(witness: Witness) -> str:
    place = witness.place
    sides = f"{place['left']:.6g} against {place['right']:.6g}" if "left" in place else "broken"
    when = f" at t = {place['t']}" if "t" in place else ""
    only = "" if witness.degenerate is None else f"; degenerate: {witness.degenerate}"
    return f"{sides}{when}, off by a relative {-witness.score:.2g}{only}"
