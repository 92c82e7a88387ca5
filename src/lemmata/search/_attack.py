"""The attack on one claim: scopes, extremes, a climb; then shrinking and proving."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lemmata._errors import InputError, unknown_name
from lemmata._files import write_json
from lemmata.claims import Claim
from lemmata.settings import AbstractSetting, AbstractSpace, Scope

from ._certify import certify
from ._finding import Finding, Outcome, Witness
from ._hunt import Hunt, Watch
from ._score import Attempt, try_all

PLAIN = 1e-6
"""A witness is made smaller only while the violation stays as plain as this, or half as large."""

POPULATION, BEST, ROUNDS = 256, 32, 30
"""Of the climb: instances in a round, those that the next round varies, rounds."""

SMALL = 2
"""So many scopes come before everything else."""

PROOFS = 4
"""So many violations are tried before it is said that none can be proved."""


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
    hunt = Hunt(claim, space, seed, begun + budget, watch)
    interrupted = False
    try:
        _search(hunt, space, begun, budget, scope)
    except KeyboardInterrupt:
        interrupted = True
    finding = _conclude(hunt, setting, space, interrupted)
    return replace(finding, seconds=time.monotonic() - begun, interrupted=interrupted)


def _search(
    hunt: Hunt,
    space: AbstractSpace[Any],
    begun: float,
    budget: float,
    scope: Mapping[str, int] | None,
) -> None:
    """Until something breaks, or time is up."""
    trainings = _free_trainings(hunt.claim, space)
    for name in scope or {}:
        if name not in space.limits:
            raise InputError(unknown_name("size in a scope of this setting", name, space.limits))
    scopes = list(space.scopes(space.limits if scope is None else {**space.limits, **scope}))
    asked = scope is not None
    stages: list[tuple[float, Callable[[], None]]] = [
        (0.3, lambda: _scopes(hunt, scopes[:SMALL], whole=asked)),
        (0.5, lambda: _extremes(hunt, space, trainings[:1])),
        (0.7, lambda: _scopes(hunt, scopes[SMALL:], whole=asked)),
        (0.9, lambda: _extremes(hunt, space, trainings[1:])),
        (1.0, lambda: _climb(hunt, space, trainings)),
    ]
    for share, stage in stages:
        hunt.ends = begun + share * budget
        stage()
        if hunt.found:
            return


def _free_trainings(claim: Claim, space: AbstractSpace[Any]) -> list[Mapping[str, Any]]:
    """Options that the claim leaves open, the usual ones first."""
    if claim.experiment.training is None:
        return [{}]
    free = set(claim.experiment.free)
    return [options for options in space.trainings() if set(options) <= free]


def _scopes(hunt: Hunt, scopes: Sequence[Scope[Any]], *, whole: bool) -> None:
    for part in scopes:
        hunt.stage = part.says
        if not hunt.go_through(part.instances(), {}, whole=whole):
            return
        hunt.scopes.append(part.says)
        if hunt.found:
            return


def _extremes(
    hunt: Hunt, space: AbstractSpace[Any], trainings: Sequence[Mapping[str, Any]]
) -> None:
    hunt.stage = "extremes"
    instances = list(space.extremes())
    for options in trainings:
        if not hunt.go_through(instances, options, whole=False) or hunt.found:
            return


def _climb(hunt: Hunt, space: AbstractSpace[Any], trainings: Sequence[Mapping[str, Any]]) -> None:
    """Vary what came closest, again and again, with each training in turn."""
    hunt.stage = "climb"
    generator = np.random.default_rng([hunt.seed, 1])
    best: list[Attempt] = []
    for number in range(ROUNDS):
        if hunt.over:
            return
        options = trainings[number % len(trainings)]
        parents = [attempt.instance for attempt in best]
        batch = [
            space.vary(parents[i % len(parents)], generator)
            if parents and i < POPULATION * 3 // 4
            else space.draw(generator)
            for i in range(POPULATION)
        ]
        attempts = hunt.evaluate(batch, options)
        if hunt.found:
            return
        best = sorted([*best, *attempts], key=lambda attempt: attempt.score)[:BEST]


def _conclude(
    hunt: Hunt, setting: AbstractSetting[Any], space: AbstractSpace[Any], interrupted: bool
) -> Finding:
    claim = hunt.claim
    facts: dict[str, Any] = {
        "tried": hunt.tried,
        "set_aside": hunt.set_aside,
        "scopes": tuple(hunt.scopes),
        "closest": None if hunt.closest is None else hunt.closest.score,
        "closest_to": None if hunt.closest is None else str(hunt.closest.instance.name),
    }
    early = "; interrupted" if interrupted else ""
    if not hunt.tried:
        reason = f"no instance that was tried meets its hypotheses{early}"
        return Finding(claim.name, claim.statement, Outcome.UNDECIDED, reason, **facts)
    if not hunt.broken:
        near = facts["closest"]
        reason = f"the closest of {hunt.tried:,} instances is {near:.3g} away from breaking it"
        return Finding(claim.name, claim.statement, Outcome.SURVIVED, reason + early, **facts)
    hunt.stage = "shrinking"
    broken = hunt.found or hunt.broken
    by_size = sorted(broken, key=lambda attempt: (space.size(attempt.instance), attempt.score))
    worst = min(broken, key=lambda attempt: attempt.score)
    witness = None
    for attempt in [*by_size[: PROOFS - 1], worst]:
        witness = _witness(hunt, setting, space, _shrink(hunt, space, attempt))
        if witness.certificate.proved:
            break
    assert witness is not None
    status = Outcome.FAILS if witness.certificate.proved else Outcome.UNDECIDED
    reason = f"{_says(witness)} ({witness.certificate.says}){early}"
    most = _witness(hunt, setting, space, worst)
    return Finding(claim.name, claim.statement, status, reason, witness, most, **facts)


def _shrink(hunt: Hunt, space: AbstractSpace[Any], attempt: Attempt) -> Attempt:
    """Leave out what can be left out while the statement is still plainly broken."""
    enough, idle = -min(PLAIN, -attempt.score / 2), space.degenerate(attempt.instance) is not None
    while True:
        smaller = [
            instance
            for instance in space.simpler(attempt.instance)
            if space.size(instance) < space.size(attempt.instance)
            and (space.degenerate(instance) is None or idle)
        ]
        tried = try_all(hunt.claim, smaller, attempt.options, hunt.seed)
        hunt.watch(f"shrinking: {space.size(attempt.instance)}")
        broken = [a for a in tried if a.score <= enough]
        if not broken:
            return _plainer_training(hunt, attempt, enough)
        attempt = min(broken, key=lambda a: space.size(a.instance))


def _plainer_training(hunt: Hunt, attempt: Attempt, enough: float) -> Attempt:
    """Without each option that is not needed."""
    for name in list(attempt.options):
        fewer = {key: value for key, value in attempt.options.items() if key != name}
        for again in try_all(hunt.claim, [attempt.instance], fewer, hunt.seed):
            if again.score <= enough:
                attempt = again
    return attempt


def _witness(
    hunt: Hunt, setting: AbstractSetting[Any], space: AbstractSpace[Any], attempt: Attempt
) -> Witness:
    """The attempt with its place, its proof, and what does not matter in it."""
    alone = try_all(hunt.claim, [attempt.instance], attempt.options, hunt.seed)
    attempt = alone[0] if alone and alone[0].broken else attempt
    certificate = certify(hunt.claim, space, attempt, lambda case: read_back(setting, case))
    return Witness(
        attempt.instance,
        attempt.options,
        attempt.score,
        attempt.place or {},
        space.size(attempt.instance),
        certificate,
        space.degenerate(attempt.instance),
        tuple(_idle(hunt, space, attempt)),
    )


def _idle(hunt: Hunt, space: AbstractSpace[Any], attempt: Attempt) -> Iterator[str]:
    """What can be changed without mending the statement."""
    for what, changed in space.changes(attempt.instance):
        again = try_all(hunt.claim, [changed], attempt.options, hunt.seed)
        if again and again[0].broken:
            yield what


def read_back(setting: AbstractSetting[Any], instance: Any) -> Any:
    """The instance as its file holds it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "witness.json"
        write_json(file, instance.document())
        return setting.read(file)[0]


def _says(witness: Witness) -> str:
    place = witness.place
    sides = f"{place['left']:.6g} against {place['right']:.6g}" if "left" in place else "broken"
    when = f" at t = {place['t']}" if "t" in place else ""
    only = "" if witness.degenerate is None else f"; degenerate: {witness.degenerate}"
    return f"{sides}{when}, off by a relative {-witness.score:.2g}{only}"
