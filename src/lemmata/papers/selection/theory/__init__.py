"""What the paper predicts: constants, bounds, and the laws that we found beside them."""

from lemmata.papers.selection.theory._networks import least_scale as least_scale
from lemmata.papers.selection.theory._networks import mean_eigenvalue as mean_eigenvalue
from lemmata.papers.selection.theory._networks import narrow_error as narrow_error
from lemmata.papers.selection.theory._networks import printed_scale as printed_scale
from lemmata.papers.selection.theory._networks import printed_worst_case as printed_worst_case
from lemmata.papers.selection.theory._networks import proof_pair_error as proof_pair_error
from lemmata.papers.selection.theory._networks import trivial_loss as trivial_loss
from lemmata.papers.selection.theory._networks import unit_ball_error as unit_ball_error
from lemmata.papers.selection.theory._networks import weight_bounds as weight_bounds
from lemmata.papers.selection.theory._networks import width_law as width_law
from lemmata.papers.selection.theory._networks import zero_sum_eigenvalue as zero_sum_eigenvalue
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
