"""Every numbered statement of the paper as a check, and our own findings beside them.

``structure`` has Section 3 and Appendix A; ``paths`` and ``ties`` have Section 4 and Appendix B;
``gradient``, ``descent`` and ``proof`` Section 5 and Appendix C; ``local`` the reported experiments
and Section 6; ``own`` and ``rates`` what the paper does not say.
"""

from lemmata.claims import claims_of

from . import descent, gradient, local, own, paths, proof, rates, structure, ties

CLAIMS = claims_of([structure, paths, ties, gradient, descent, proof, local, own, rates])
