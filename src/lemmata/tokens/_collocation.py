"""The collocation: which token follows each token at the start of a sentence."""

from dataclasses import dataclass

from ._data import TokenData
from ._problems import Problem


@dataclass(frozen=True)
class Collocation:
    """The map n: V -> V read off the inputs of length one.

    Tokens with no continuation, or with two different ones, are missing from ``following``.
    """

    following: dict[int, int]
    problems: tuple[Problem, ...]

    def of(self, token: int) -> int | None:
        """n(token), or None where it is not defined."""
        return self.following.get(token)

    def preimages(self, token: int) -> list[int]:
        """Every x with n(x) = token."""
        return [x for x, after in self.following.items() if after == token]


def find_collocation(data: TokenData) -> Collocation:
    """Read n off the data and say where it is ambiguous, undefined or not injective."""
    continuations: dict[int, dict[int, str]] = {}
    for sample in data.samples:
        if len(sample.tokens) == 1:
            continuations.setdefault(sample.query, {})[sample.label] = data.show(sample)
    problems: list[Problem] = []
    following: dict[int, int] = {}
    for token in range(data.size):
        after = continuations.get(token, {})
        name = data.name(token)
        if len(after) == 1:
            following[token] = next(iter(after))
        elif after:
            choices = " and by ".join(data.name(label) for label in after)
            problems.append(
                Problem(
                    "collocation_conflict",
                    "; ".join(after.values()),
                    f"the first token {name} is followed by {choices}: n({name}) is not defined",
                )
            )
        else:
            problems.append(
                Problem(
                    "collocation_missing",
                    f"token {name}",
                    f"no sentence starts with {name}: n({name}) is not defined",
                )
            )
    problems += _injectivity_problems(data, following, continuations)
    return Collocation(following, tuple(problems))


def _injectivity_problems(
    data: TokenData, following: dict[int, int], continuations: dict[int, dict[int, str]]
) -> list[Problem]:
    problems = []
    for label in sorted(set(following.values())):
        sharing = [token for token, after in following.items() if after == label]
        if len(sharing) > 1:
            names = " = ".join(f"n({data.name(token)})" for token in sharing)
            problems.append(
                Problem(
                    "collocation_not_injective",
                    "; ".join(continuations[token][label] for token in sharing),
                    f"{names} = {data.name(label)}: the collocation is not injective",
                )
            )
    return problems
