"""A claim: a statement that knows how to be checked."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeVar

from lemmata.settings import AbstractSetting, Hypothesis

from ._comparisons import Comparison
from ._experiment import Bench, Experiment
from ._verdict import Kind

Comparisons = Comparison | Sequence[Comparison]

Check = Callable[..., Comparisons]
"""From evidence to what the statement asserts about it."""

Exact = Callable[[Any, Mapping[str, Any]], Comparisons]
"""From an instance and options of training to the same, in fractions or balls."""

CheckT = TypeVar("CheckT", bound=Check)


@dataclass(frozen=True)
class Version:
    """Another version of a statement: that of the appendix, or a repaired one.

    What is None is as in the printed version.

    Attributes:
        suffix: ``appendix``, ``repaired`` or another word, added to the name.
        where, statement, hypotheses, on, kind, counterexample, exact: see ``Claim``.
        parameters: what the check gets besides the evidence.
    """

    suffix: str
    where: str | None = None
    statement: str | None = None
    hypotheses: tuple[Hypothesis, ...] | None = None
    on: Experiment[Any] | None = None
    kind: Kind | str | None = None
    counterexample: "Callable[..., Comparisons] | None" = None
    exact: "Exact | None" = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


def repaired(
    statement: str,
    *,
    where: str | None = None,
    hypotheses: tuple[Hypothesis, ...] | None = None,
    on: Experiment[Any] | None = None,
    **parameters: Any,
) -> Version:
    """The version of a statement that is true, and what its check gets instead."""
    return Version("repaired", where, statement, hypotheses, on, parameters=parameters)


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """A statement of a paper, one of ours, or one of a user's.

    Attributes:
        name: ``paper/kind-number``, as the paper numbers it, with a suffix for a version.
        where: section and equation.
        statement: what it says, in our words.
        hypotheses: what must hold of an instance before the statement speaks about it.
        experiment: where it is checked by default.
        check: from evidence to comparisons.
        kind: what sort of failure it would be; None for what is not known to fail.
        counterexample: from a bench to comparisons on instances of its own, in default runs
            only: one within the literal hypotheses that breaks the statement, or attains it.
        parameters: what the check gets besides the evidence.
        setting: what its instances are; None for the setting of the paper it is named after.
        exact: what the statement asserts about one instance, evaluated by other code in
            fractions or balls; what an adversary finds is proved by it.
        unbreakable: why no single instance can break it (it says that something exists, or
            speaks of an average over tasks); None if one can.
    """

    name: str
    where: str
    statement: str
    hypotheses: tuple[Hypothesis, ...]
    experiment: Experiment[Any]
    check: Check
    kind: Kind | None = None
    counterexample: Callable[..., Comparisons] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    setting: AbstractSetting[Any] | None = None
    exact: Exact | None = None
    unbreakable: str | None = None

    def __repr__(self) -> str:
        return f"<claim {self.name}: {self.statement}>"

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.name.split("/")[0]

    def compare(self, evidence: Any) -> list[Comparison]:
        """What the statement asserts about the evidence."""
        return as_list(self.check(evidence, **self.parameters))

    def counter(self, bench: Bench) -> list[Comparison]:
        """What it asserts about its counterexample, if it has one."""
        return [] if self.counterexample is None else as_list(self.counterexample(bench))


def as_list(comparisons: Comparisons) -> list[Any]:
    """One comparison or several as a list."""
    return [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)


def statements(
    paper: str,
    setting: AbstractSetting[Any] | None = None,
    *,
    on: Experiment[Any] | None = None,
    hypotheses: tuple[Hypothesis, ...] = (),
    unbreakable: str | None = None,
) -> Callable[..., Callable[[CheckT], CheckT]]:
    """A decorator that makes a claim of the paper out of a check, and one of each version.

    The check itself stays a function, and holds its claims as ``check.claims``. The setting of a
    paper in the registry need not be given. ``on``, ``hypotheses`` and ``unbreakable`` are those
    of every claim that does not name its own.
    """

    def claim(
        name: str,
        where: str,
        statement: str,
        *,
        on: Experiment[Any] | None = on,
        hypotheses: tuple[Hypothesis, ...] = hypotheses,
        kind: Kind | str | None = None,
        counterexample: Callable[..., Comparisons] | None = None,
        exact: Exact | None = None,
        unbreakable: str | None = unbreakable,
        versions: Sequence[Version] = (),
        **parameters: Any,
    ) -> Callable[[CheckT], CheckT]:
        assert on is not None, f"{paper}/{name} does not say where it is checked"

        def wrap(check: CheckT) -> CheckT:
            printed = Claim(
                f"{paper}/{name}",
                where,
                statement,
                hypotheses,
                on,
                check,
                None if kind is None else Kind(kind),
                counterexample,
                parameters,
                setting,
                exact,
                unbreakable,
            )
            others = [_other(printed, version) for version in versions]
            known = getattr(check, "claims", ())
            check.claims = (printed, *others, *known)  # pyright: ignore[reportFunctionMemberAccess]
            return check

        return wrap

    return claim


def _other(printed: Claim, version: Version) -> Claim:
    def instead(value: Any, usual: Any) -> Any:
        return usual if value is None else value

    return Claim(
        f"{printed.name}/{version.suffix}",
        instead(version.where, printed.where),
        instead(version.statement, printed.statement),
        instead(version.hypotheses, printed.hypotheses),
        instead(version.on, printed.experiment),
        printed.check,
        None if version.kind is None else Kind(version.kind),
        version.counterexample,
        {**printed.parameters, **version.parameters},
        printed.setting,
        version.exact,
        printed.unbreakable,
    )


def declared_by(value: Any) -> tuple[Claim, ...]:
    """The claims that a value holds: a check under a decorator, or a paper."""
    claims = getattr(value, "claims", ())
    return tuple(c for c in claims if isinstance(c, Claim)) if isinstance(claims, tuple) else ()


def claims_of(modules: Iterable[ModuleType]) -> tuple[Claim, ...]:
    """All claims of the modules, in order of appearance; one that is imported counts once."""
    claims = {
        claim.name: claim
        for module in modules
        for value in vars(module).values()
        for claim in declared_by(value)
    }
    return tuple(claims.values())
