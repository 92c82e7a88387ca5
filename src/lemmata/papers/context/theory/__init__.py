"""What the paper predicts: step sizes, rates, and how long training takes.

Everything is a function of a few constants of the task and its initialization. The formulas use
nothing but arithmetic, so that they work for numbers of any precision: with Gaussian tokens zeta_0
can be 1e-140, and then gamma^4 is no float any more.
"""

from lemmata.papers.context.theory._constants import Constants as Constants
from lemmata.papers.context.theory._constants import Real as Real
from lemmata.papers.context.theory._constants import least_gamma as least_gamma
from lemmata.papers.context.theory._constants import radius as radius
from lemmata.papers.context.theory._constants import smoothness as smoothness
from lemmata.papers.context.theory._constants import smoothness_repaired as smoothness_repaired
from lemmata.papers.context.theory._constants import smoothness_simplified as smoothness_simplified
from lemmata.papers.context.theory._constants import (
    smoothness_simplified_repaired as smoothness_simplified_repaired,
)
from lemmata.papers.context.theory._rates import Rates as Rates
from lemmata.papers.context.theory._rates import best_rate as best_rate
from lemmata.papers.context.theory._rates import label_bound as label_bound
from lemmata.papers.context.theory._rates import steps_for_inference as steps_for_inference
from lemmata.papers.context.theory._rates import theory_rates as theory_rates
