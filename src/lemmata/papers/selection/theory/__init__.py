"""What the paper predicts: constants, bounds, and the laws that we found beside them."""

from lemmata.papers.selection.theory._recursion import NEEDED_DELTA as NEEDED_DELTA
from lemmata.papers.selection.theory._recursion import best_alpha as best_alpha
from lemmata.papers.selection.theory._recursion import ceiling as ceiling
from lemmata.papers.selection.theory._recursion import chosen as chosen
from lemmata.papers.selection.theory._recursion import concentration_needed as concentration_needed
from lemmata.papers.selection.theory._recursion import (
    concentration_printed as concentration_printed,
)
from lemmata.papers.selection.theory._recursion import (
    concentration_reached as concentration_reached,
)
from lemmata.papers.selection.theory._recursion import denominator as denominator
from lemmata.papers.selection.theory._recursion import gamma as gamma
from lemmata.papers.selection.theory._recursion import kappa as kappa
from lemmata.papers.selection.theory._recursion import late_concentration as late_concentration
from lemmata.papers.selection.theory._recursion import late_loss as late_loss
from lemmata.papers.selection.theory._recursion import length_ratio as length_ratio
from lemmata.papers.selection.theory._recursion import missed as missed
from lemmata.papers.selection.theory._recursion import overshoot as overshoot
from lemmata.papers.selection.theory._recursion import two_level_loss as two_level_loss
