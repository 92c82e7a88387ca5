"""Every numbered statement of the paper as a check, and our own findings beside them.

``setup`` has Section 2 and Assumptions 1 and 3; ``loss`` Lemmas 3 to 5, and ``target`` the best
column A; ``gradients`` Lemmas 1 and 6, ``slopes`` Lemmas 2 and 7 to 9, ``smoothness`` Lemma 10;
``initialization`` Assumption 2 and Proposition 1, ``rates`` what the text says of the rate;
``theorems`` Theorem 1 and its proof; ``inference`` Theorem 2; ``ridge`` and ``prompt_length``
Section 3.2 and Figure 3; ``training`` Figures 2a and 4; ``deep`` Figures 2b and 5; ``own`` what the
paper does not say.
"""

from lemmata.claims import claims_of

from . import (
    deep,
    gradients,
    inference,
    initialization,
    loss,
    own,
    prompt_length,
    rates,
    ridge,
    setup,
    slopes,
    smoothness,
    target,
    theorems,
    training,
)

CLAIMS = claims_of(
    [
        setup,
        loss,
        target,
        gradients,
        slopes,
        smoothness,
        initialization,
        rates,
        theorems,
        inference,
        ridge,
        prompt_length,
        training,
        deep,
        own,
    ]
)
