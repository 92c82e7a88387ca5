"""Every numbered statement of the paper as a check, and our own findings beside them."""

from lemmata.claims import claims_of

CLAIMS = claims_of([])
