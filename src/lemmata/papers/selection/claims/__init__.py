"""Every numbered statement of the paper as a check, and our own findings beside them.

``definitions`` and ``shapes`` have Section 2, ``isometry`` Appendix A; ``one_hot``, ``phases`` and
``bands`` Section 3.1 and Appendix D; ``gradients``, ``symmetries``, ``stochastic`` and ``length``
Sections 3.2 and 3.4 and Appendix E; ``steps``, ``stages`` and ``closing`` the proofs of Theorems
D.4 and E.6, display by display; ``networks``, ``worst_case``, ``construction`` and ``separation``
Section 3.3 and Appendix C; ``observations`` and ``heat_maps`` Section 4 and Appendix F;
``findings`` and ``own`` what the paper does not say.
"""

from lemmata.claims import claims_of

from . import (
    bands,
    closing,
    construction,
    definitions,
    findings,
    gradients,
    heat_maps,
    isometry,
    length,
    networks,
    observations,
    one_hot,
    own,
    phases,
    separation,
    shapes,
    stages,
    steps,
    stochastic,
    symmetries,
    worst_case,
)

CLAIMS = claims_of(
    [
        definitions,
        shapes,
        isometry,
        one_hot,
        phases,
        bands,
        gradients,
        symmetries,
        stochastic,
        steps,
        stages,
        closing,
        length,
        networks,
        worst_case,
        construction,
        separation,
        observations,
        heat_maps,
        findings,
        own,
    ]
)
