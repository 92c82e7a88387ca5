"""Max-margin programs and their certified solutions."""

from ._certificate import check_infeasibility as check_infeasibility
from ._certificate import check_optimality as check_optimality
from ._embedded import Pair as Pair
from ._embedded import embedded_max_margin as embedded_max_margin
from ._embedded import max_margin_of_pairs as max_margin_of_pairs
from ._embedded import pair_rows as pair_rows
from ._exact import Potentials as Potentials
from ._exact import separate as separate
from ._program import MaxMargin as MaxMargin
from ._program import Status as Status
from ._program import max_margin as max_margin
from ._separable import GeneralizedMargin as GeneralizedMargin
from ._separable import generalized_max_margin as generalized_max_margin
from ._separable import separable as separable
from ._subspace import remove as remove
from ._subspace import span_basis as span_basis
