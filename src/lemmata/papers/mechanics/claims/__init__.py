"""Every statement that can be checked."""

from lemmata.claims import Claim

CLAIMS: tuple[Claim, ...] = ()
