"""What statements about nets assume, and how measured losses and fractions are judged."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lemmata.old_claims import Assumption, Judgement, Status, fact

if TYPE_CHECKING:
    from lemmata.papers.selection.setting._networks import Estimate

FITS = Assumption("a workable size", "what is looked at fits into memory", frozenset({"too_large"}))
POSITIONS = Assumption("T >= 2", "there is more than one position", frozenset({"one_position"}))
PROPER = Assumption("q < T", "some position is not chosen", frozenset({"all_chosen"}))

ROUNDING = 1e-12
"""Rounding of a trace of a projection of at most 1,000 dimensions, entries of size 1."""

SIGNIFICANT = 3.0
"""Standard errors by which a measured number must differ from a bound to decide anything."""


def beyond_noise(
    part: str, rows: "Iterable[tuple[str, Estimate, float]]", above: bool = True
) -> Judgement:
    """Judge measured losses against bounds, from above or below, with their standard errors."""
    sign = 1 if above else -1
    gaps = [
        (sign * (found.loss - bound) / max(found.error, 1e-300), name, found, bound)
        for name, found, bound in rows
    ]
    gap, name, found, bound = min(gaps, key=lambda row: row[0])
    status = Status.HOLDS if gap > SIGNIFICANT else Status.UNDECIDED
    if gap < -SIGNIFICANT:
        status = Status.FAILS
    reason = (
        f"{part}: {found.loss:.5g} ± {found.error:.2g} (standard error) against {bound:.5g} on "
        f"{name}, the closest of {len(gaps)}"
    )
    place = {"net": name, "loss": found.loss, "standard error": found.error, "bound": bound}
    return Judgement(part, status, reason, sign * (found.loss - bound), witness=place)


def exactly(part: str, rows: Iterable[tuple[str, bool, dict[str, Any]]]) -> Judgement:
    """Judge something about fractions, one row a case; the first case that fails is the witness."""
    rows = list(rows)
    for name, holds, numbers in rows:
        if not holds:
            shown = {key: str(value) for key, value in numbers.items()}
            text = ", ".join(f"{key} = {value}" for key, value in shown.items())
            return fact(part, False, f"{part} fails on {name}: {text}", {"case": name} | shown)
    return fact(part, True, f"{part}: exactly, on {len(rows)} cases")
