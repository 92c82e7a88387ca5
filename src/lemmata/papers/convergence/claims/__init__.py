"""Every numbered statement of the paper as a check, and our own findings beside them.

``structure`` has Section 4.1, ``programs`` the loss and the max-margin programs, ``stage1`` Section
5.1 and Appendix B, ``theorems`` Sections 5.2 and 5.3, ``stage2`` Algorithm 1 and Appendix C,
``generalization`` Section 6 and Appendix D, ``vanishing`` what a loss of 0 would ask for (Section
4.1), ``lemmas``, ``proofs`` and ``consequences`` the steps of the proofs, and ``own`` what the
paper does not say.
"""

from lemmata.claims import claims_of

from . import (
    consequences,
    generalization,
    lemmas,
    own,
    programs,
    proofs,
    stage1,
    stage2,
    structure,
    theorems,
    vanishing,
)

CLAIMS = claims_of(
    [
        structure,
        vanishing,
        programs,
        stage1,
        theorems,
        stage2,
        lemmas,
        proofs,
        consequences,
        generalization,
        own,
    ]
)
