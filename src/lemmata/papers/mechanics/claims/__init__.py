"""Every numbered statement of the paper as a check, and our own findings beside them.

``structure`` has Section 3 and Appendix A, ``assumptions`` what losses and heads are supposed to
be; ``paths``, ``ties`` and ``steps`` have Section 4 and Appendix B; ``gradient``, ``convexity``,
``descent`` and ``proof`` Section 5 and Appendix C; ``local`` the reported experiments and Section
6; ``own`` and ``rates`` what the paper does not say.
"""

from lemmata.claims import claims_of

from . import (
    assumptions,
    convexity,
    descent,
    gradient,
    local,
    own,
    paths,
    proof,
    rates,
    steps,
    structure,
    ties,
)

CLAIMS = claims_of(
    [
        structure,
        assumptions,
        paths,
        ties,
        steps,
        gradient,
        convexity,
        descent,
        proof,
        local,
        own,
        rates,
    ]
)
