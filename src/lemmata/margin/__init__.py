"""Max-margin programs and their certified solutions."""

from lemmata.margin._certificate import check_infeasibility as check_infeasibility
from lemmata.margin._certificate import check_optimality as check_optimality
from lemmata.margin._embedded import Pair as Pair
from lemmata.margin._embedded import embedded_max_margin as embedded_max_margin
from lemmata.margin._embedded import max_margin_of_pairs as max_margin_of_pairs
from lemmata.margin._embedded import pair_rows as pair_rows
from lemmata.margin._exact import Potentials as Potentials
from lemmata.margin._exact import separate as separate
from lemmata.margin._program import MaxMargin as MaxMargin
from lemmata.margin._program import Status as Status
from lemmata.margin._program import max_margin as max_margin
from lemmata.margin._separable import GeneralizedMargin as GeneralizedMargin
from lemmata.margin._separable import generalized_max_margin as generalized_max_margin
from lemmata.margin._separable import separable as separable
from lemmata.margin._subspace import remove as remove
from lemmata.margin._subspace import span_basis as span_basis
