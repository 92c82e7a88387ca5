"""Every numbered statement of the paper as a check, and our own findings beside them.

``setup`` has Section 2 and Assumptions 1 and 3; ``loss`` Lemmas 3 to 5; ``gradients`` Lemmas 1, 2
and 6 to 9; ``smoothness`` Lemma 10; ``initialization`` Assumption 2 and Proposition 1; ``theorems``
Theorem 1 and its proof; ``inference`` Theorem 2; ``ridge`` Section 3.2 and Figure 3; ``training``
Figures 2a and 4; ``deep`` Figures 2b and 5; ``own`` what the paper does not say.
"""

from lemmata.old_claims import claims_of
from lemmata.papers.context.claims import (
    deep,
    gradients,
    inference,
    initialization,
    loss,
    own,
    ridge,
    setup,
    smoothness,
    theorems,
    training,
)

CLAIMS = claims_of(
    [
        setup,
        loss,
        gradients,
        smoothness,
        initialization,
        theorems,
        inference,
        ridge,
        training,
        deep,
        own,
    ]
)
