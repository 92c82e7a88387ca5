"""Max-margin programs and their certified solutions."""

from lemmata.margin._certificate import check_infeasibility as check_infeasibility
from lemmata.margin._certificate import check_optimality as check_optimality
from lemmata.margin._embedded import embedded_max_margin as embedded_max_margin
from lemmata.margin._exact import Potentials as Potentials
from lemmata.margin._exact import separate as separate
from lemmata.margin._program import MaxMargin as MaxMargin
from lemmata.margin._program import Status as Status
from lemmata.margin._program import max_margin as max_margin
