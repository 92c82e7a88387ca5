"""What the paper predicts: step sizes, rates, and how long training takes.

Everything is a function of a few constants of the task and its initialization. The formulas use
nothing but arithmetic, so that they work for numbers of any precision: with Gaussian tokens zeta_0
can be 1e-140, and then gamma^4 is no float any more.
"""

from ._constants import Constants as Constants
from ._constants import Real as Real
from ._constants import least_gamma as least_gamma
from ._constants import radius as radius
from ._constants import smoothness as smoothness
from ._constants import smoothness_needed as smoothness_needed
from ._constants import smoothness_repaired as smoothness_repaired
from ._constants import smoothness_simplified as smoothness_simplified
from ._constants import smoothness_simplified_repaired as smoothness_simplified_repaired
from ._rates import Rates as Rates
from ._rates import best_rate as best_rate
from ._rates import label_bound as label_bound
from ._rates import steps_for_inference as steps_for_inference
from ._rates import theory_rates as theory_rates
