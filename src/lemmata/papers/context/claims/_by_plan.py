"""Claims about runs that are compared with each other: on a user's plans, each plan for itself."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from lemmata.claims import Comparison, Comparisons, Silence
from lemmata.settings import Evidence


def for_each_plan(check: Callable[..., Comparisons]) -> Callable[..., Comparisons]:
    """A check of the runs of one plan, made of evidence on several.

    The runs of a figure, which are on no plan of a user's, belong together. Plans of which the
    statement does not speak are left out, unless it speaks of none.
    """

    @wraps(check)
    def check_all(evidence: Evidence[Any], **parameters: Any) -> Comparisons:
        plans = dict.fromkeys(case.group for case in evidence)
        found: list[Comparison] = []
        for plan in plans:
            own = check(evidence.where(lambda case, plan=plan: case.group == plan), **parameters)
            found += own if isinstance(own, Sequence) else [own]
        spoken = [part for part in found if not isinstance(part, Silence) or part.applies]
        return spoken or found

    return check_all
