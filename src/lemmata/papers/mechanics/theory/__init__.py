"""What the paper predicts: its bounds and constants, and the quantities that they speak of."""

from lemmata.papers.mechanics.theory._bounds import lemma_4_radius as lemma_4_radius
from lemmata.papers.mechanics.theory._bounds import score_gaps as score_gaps
from lemmata.papers.mechanics.theory._bounds import theorem_1_radius as theorem_1_radius
from lemmata.papers.mechanics.theory._bounds import tie_range_bound as tie_range_bound
from lemmata.papers.mechanics.theory._points import EPS as EPS
from lemmata.papers.mechanics.theory._points import At as At
from lemmata.papers.mechanics.theory._points import generator_for as generator_for
from lemmata.papers.mechanics.theory._points import project as project
from lemmata.papers.mechanics.theory._points import pull_back as pull_back
from lemmata.papers.mechanics.theory._points import random_weights as random_weights
from lemmata.papers.mechanics.theory._points import softmax_of as softmax_of
from lemmata.papers.mechanics.theory._restricted import linear_head as linear_head
from lemmata.papers.mechanics.theory._restricted import log_linear_excess as log_linear_excess
from lemmata.papers.mechanics.theory._restricted import log_odds_outside as log_odds_outside
from lemmata.papers.mechanics.theory._restricted import other_direction as other_direction
from lemmata.papers.mechanics.theory._restricted import restricted_path as restricted_path
from lemmata.papers.mechanics.theory._restricted import worst_margin as worst_margin
